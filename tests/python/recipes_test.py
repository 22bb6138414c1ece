#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/python.md log a training of two ranks that fails and is resumed, as TensorBoard reads it.

Each program trains twice. The first training saves a checkpoint after SAVED steps and raises after FAILED; the second
one continues from the checkpoint. Both log the metric "attempt", so that a point says which of them wrote it.
"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import steptape

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/python.md"
SAVED, FAILED, END = 4, 6, 8
HEAD = f"import sys\nattempt, SAVED, FAILED, END = int(sys.argv[1]), {SAVED}, {FAILED}, {END}\n"

LIGHTNING = """
import functools
import torch
from lightning import LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint


class Model(LightningModule):
    def __init__(self, rate=0.125, layers=(4, 1), note=None):
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(*layers)

    def training_step(self, batch):
        if attempt == 1 and self.global_step == FAILED:
            raise RuntimeError("fails on purpose")
        loss = self.layer(batch).square().mean()
        self.log_dict({"attempt": torch.tensor(float(attempt)), "loss": loss}, sync_dist=True)
        self.logger.log_metrics({"tensor": loss}, self.global_step)
        self.logger.experiment.add_histogram("weights", self.layer.weight, self.global_step)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.rate)

    def train_dataloader(self):
        return torch.utils.data.DataLoader(torch.ones(32, 4), batch_size=2)


model = Model()
save = ModelCheckpoint(filename="{step}", every_n_train_steps=SAVED, save_top_k=-1)
Trainer = functools.partial(Trainer, accelerator="cpu", devices=2, strategy="ddp", max_steps=END, log_every_n_steps=1,
                            callbacks=[save], enable_progress_bar=False, enable_model_summary=False)
"""
LIGHTNING_FIRST = LIGHTNING + """
Trainer(logger=SteptapeLogger("runs/exp")).fit(model)
"""
LIGHTNING_SECOND = LIGHTNING + f"""
checkpoint = "runs/exp/checkpoints/step={SAVED}.ckpt"
"""

TRANSFORMERS = """
import torch
from transformers import Trainer, TrainingArguments


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, x):
        if attempt == 1 and trainer.state.global_step == FAILED:
            raise RuntimeError("fails on purpose")
        return {"loss": self.layer(x).square().mean()}


class Attempt(Trainer):
    def log(self, logs, *others):
        if "loss" in logs:
            logs = {**logs, "attempt": attempt, "note": "text"}
            if attempt == 2:  # It saves no checkpoint, which would store the logs as JSON, without tensors.
                logs["tensor"] = torch.ones(1)
        super().log(logs, *others)


options = TrainingArguments("checkpoints", max_steps=END, logging_steps=1, save_steps=SAVED, use_cpu=True,
                            save_strategy="steps" if attempt == 1 else "no", per_device_train_batch_size=2,
                            learning_rate=0.125, report_to="none", disable_tqdm=True)
trainer = Attempt(Model(), options, train_dataset=[{"x": torch.ones(4)}] * 64,
                  callbacks=[SteptapeCallback("runs/exp")])
trainer.train(resume_from_checkpoint=attempt == 2)
"""

KERAS = """
import os
import numpy


class Fail(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        if attempt == 1 and int(self.model.optimizer.iterations) == FAILED:
            raise RuntimeError("fails on purpose")


class Attempt(keras.metrics.Mean):
    def update_state(self, y_true, y_pred, sample_weight=None):
        super().update_state(float(attempt))


model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse", metrics=[Attempt(name="attempt")])
callbacks = [keras.callbacks.BackupAndRestore(f"backup{os.environ['RANK']}"),
             SteptapeCallback("runs/exp"), Fail()]
# An epoch ends when its state is saved.
model.fit(numpy.ones((2 * SAVED, 4)), numpy.ones(2 * SAVED), batch_size=2, epochs=END // SAVED, verbose=0,
          callbacks=callbacks)
callback = callbacks[1]
callback.on_train_begin()
callback.log("direct", {"tensor": model.layers[0].bias.value}, END)
callback.on_train_end()
"""


def recipe(heading, number=0):
    """A Python block below a heading."""
    text = DOCUMENT.read_text(encoding="utf-8")
    section = re.search(rf"^### {heading}\n(.*?)^##", text, re.DOTALL | re.MULTILINE)[1]
    return re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)[number]


def needs(*packages):
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    return unittest.skipIf(missing, f"got no package {', '.join(missing)}; this test needs it")


class Recipe(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.log_dir = os.path.join(self.folder, "runs/exp")

    def train(self, program, attempt, *launcher):
        """Runs a program; returns its exit status and what it printed."""
        path = os.path.join(self.folder, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD + program)
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")}
        environment.update(KERAS_BACKEND="torch", OMP_NUM_THREADS="1",
                           PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(steptape.__file__))))
        done = subprocess.run([sys.executable, *launcher, path, str(attempt)], env=environment, cwd=self.folder,
                              capture_output=True, text=True, timeout=300, check=False)
        return done.returncode, done.stdout + done.stderr

    def points(self, tag):
        """The steps and values of a curve, as TensorBoard's own reader has them."""
        scalars = EventAccumulator(self.log_dir).Reload().Scalars(tag)
        return [(point.step, point.value) for point in scalars]

    def check(self, tag, first_step, programs, *launcher):
        """Trains twice, and checks the metric "attempt", whose first step is given."""
        def steps(begin, end):
            return range(begin + first_step, end + first_step)

        code, printed = self.train(programs[0], 1, *launcher)
        self.assertNotEqual(code, 0, printed)
        self.assertIn("fails on purpose", printed)
        self.assertNotIn("WriterWarning", printed)
        self.assertEqual(self.points(tag), [(step, 1) for step in steps(0, FAILED)], printed)
        code, printed = self.train(programs[-1], 2, *launcher)
        self.assertEqual(code, 0, printed)
        self.assertNotIn("WriterWarning", printed)
        self.assertEqual(self.points(tag), [*((step, 1) for step in steps(0, SAVED)),
                                            *((step, 2) for step in steps(SAVED, END))], printed)


TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")


class Recipes(Recipe):
    def test_are_python(self):
        for heading in ("Lightning", "Transformers", "Keras 3"):
            compile(recipe(heading), heading, "exec")

    @needs("lightning")
    def test_log_lightning(self):
        self.check("attempt", 0, [recipe("Lightning") + LIGHTNING_FIRST,
                                  recipe("Lightning") + LIGHTNING_SECOND + recipe("Lightning", 1)])
        self.assertEqual([step for step, _ in self.points("tensor")], list(range(END)))
        run = steptape.read(self.log_dir)["."]
        self.assertEqual(run["weights"].steps.tolist(), list(range(END)))
        self.assertEqual(run.hparams, {"rate": 0.125, "layers": "(4, 1)", "note": "None"})

    @needs("transformers", "accelerate")
    def test_log_transformers(self):
        self.check("train/attempt", 1, [recipe("Transformers") + TRANSFORMERS], *TORCHRUN)
        self.assertEqual(self.points("train/tensor"), [(step, 1) for step in range(SAVED + 1, END + 1)])
        run = steptape.read(self.log_dir)["."]
        self.assertEqual(run["train/note"].steps.tolist(), list(range(1, END + 1)))
        self.assertEqual(run.hparams["learning_rate"], 0.125)

    @needs("keras")
    def test_log_keras(self):
        self.check("batch/attempt", 1, [recipe("Keras 3") + KERAS], *TORCHRUN)
        self.assertEqual(self.points("epoch/attempt"), [(SAVED, 1), (END, 2)])
        self.assertEqual([step for step, _ in self.points("epoch/loss")], [SAVED, END])
        self.assertEqual([step for step, _ in self.points("direct/tensor")], [END])


if __name__ == "__main__":
    unittest.main()
