# SPDX-License-Identifier: Apache-2.0
"""The TensorBoardLogger of Lightning 2.6.6: hyperparameters with a session that ends at its start."""

import logging
import sys
import warnings

import lightning
import torch
from lightning.pytorch.loggers import TensorBoardLogger


class Model(lightning.LightningModule):
    def __init__(self, lr=0.1):
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, _):
        loss = self.layer(batch).square().mean()
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, _):
        self.log("val_loss", self.layer(batch).square().mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), self.hparams.lr)


def main(directory):
    warnings.simplefilter("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    torch.manual_seed(1)
    data = torch.utils.data.DataLoader(torch.rand(16, 2), batch_size=2)
    trainer = lightning.Trainer(logger=TensorBoardLogger(directory, name="name"), max_epochs=2,
                                log_every_n_steps=2, enable_checkpointing=False, accelerator="cpu",
                                enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Model(), data, data)


main(sys.argv[1])
