import { defineEntity, p } from '@mikro-orm/core';

export const ComputerSnapSchema = defineEntity({
  name: 'ComputerSnap',
  tableName: 'computer_snap',
  properties: {
    computerId: p.integer().primary(),
    name: p.text().primary(),
    snapId: p.text(),
    version: p.text(),
    revision: p.text(),
    trackingChannel: p.text().strictNullable(),
    confinement: p.text().strictNullable(),
    heldUntil: p.text().strictNullable(),
    publisherUsername: p.text().strictNullable(),
    publisherValidation: p.text().strictNullable(),
    summary: p.text().strictNullable(),
    config: p.text().strictNullable(),
  },
});

export const SnapOperationBeforeSchema = defineEntity({
  name: 'SnapOperationBefore',
  tableName: 'snap_operation_before',
  properties: {
    activityId: p.integer().autoincrement(false).primary(),
    computerId: p.integer().index('snap_operation_before_computer'),
    snaps: p.json<unknown>(),
    idle: p.boolean(),
  },
});
