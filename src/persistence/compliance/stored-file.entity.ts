import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '../identity/account.entity.ts';

export const StoredFileSchema = defineEntity({
  name: 'StoredFile',
  tableName: 'stored_file',
  properties: {
    account: () => p.manyToOne(Account).deleteRule('cascade').ref(),
    key: p.text().strictNullable(),
    kind: p.enum(['tailoring', 'report']),
    profileId: p.integer().index('stored_file_profile'),
    creationTime: p.datetime(),
    id: p.bigint('number').generated('by default as identity').primary(),
    size: p.bigint('number').defaultRaw('0'),
    activityId: p.integer().strictNullable(),
  },
  indexes: [{ name: 'stored_file_draft', properties: ['creationTime'], where: 'key IS NULL' }],
  uniques: [{ name: 'stored_file_key', properties: ['account', 'key'], where: 'key IS NOT NULL' }],
});

export class StoredFile extends StoredFileSchema.class {}
StoredFileSchema.setClass(StoredFile);

export const StoredFileChunkSchema = defineEntity({
  name: 'StoredFileChunk',
  tableName: 'stored_file_chunk',
  properties: {
    file: () => p.manyToOne(StoredFile).deleteRule('cascade').ref().primary(),
    ordinal: p.integer().primary(),
    content: p.blob().$type<Buffer>(),
  },
});
