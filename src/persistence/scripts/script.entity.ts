import { defineEntity, p } from '@mikro-orm/core';
import { AccessGroup } from '../identity/access-group.entity.ts';
import { Account } from '../identity/account.entity.ts';

export const ScriptSchema = defineEntity({
  name: 'Script',
  tableName: 'script',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').ref(),
    accessGroup: () => p.manyToOne(AccessGroup).ref().index('script_access_group'),
    title: p.text(),
    status: p.enum(['active', 'archived', 'redacted']).default('active'),
    version: p.integer().default(1),
    timeLimit: p.integer(),
    username: p.text(),
    creatorId: p.integer(),
    createdAt: p.datetime(),
    lastEditorId: p.integer(),
    lastEditedAt: p.datetime(),
  },
  indexes: [
    {
      name: 'script_page',
      properties: ['account', 'createdAt', 'id'],
      columns: [{ name: 'account' }, { name: 'createdAt', sort: 'DESC' }, { name: 'id' }],
    },
  ],
  uniques: [{ name: 'script_title', properties: ['account', 'title'], where: `status = 'active'::text` }],
});

export class Script extends ScriptSchema.class {}
ScriptSchema.setClass(Script);

export const ScriptVersionSchema = defineEntity({
  name: 'ScriptVersion',
  tableName: 'script_version',
  properties: {
    script: () => p.manyToOne(Script).deleteRule('cascade').ref().primary(),
    version: p.integer().primary(),
    title: p.text(),
    interpreter: p.text(),
    code: p.text().strictNullable(),
    creatorId: p.integer(),
    createdAt: p.datetime(),
  },
});

export class ScriptVersion extends ScriptVersionSchema.class {}
ScriptVersionSchema.setClass(ScriptVersion);

export const ScriptAttachmentSchema = defineEntity({
  name: 'ScriptAttachment',
  tableName: 'script_attachment',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    script: () => p.manyToOne(Script).deleteRule('cascade').ref().index('script_attachment_script'),
    filename: p.text(),
    content: p.blob(),
    size: p.integer(),
    current: p.boolean().default(true),
  },
  uniques: [{ name: 'script_attachment_name', properties: ['script', 'filename'], where: 'current' }],
});

export class ScriptAttachment extends ScriptAttachmentSchema.class {}
ScriptAttachmentSchema.setClass(ScriptAttachment);
