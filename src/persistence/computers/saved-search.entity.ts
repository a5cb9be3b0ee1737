import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '../identity/account.entity.ts';

export const SavedSearchSchema = defineEntity({
  name: 'SavedSearch',
  tableName: 'saved_search',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').ref(),
    name: p.text(),
    title: p.text(),
    search: p.text(),
    creatorId: p.integer().strictNullable(),
  },
  uniques: [{ name: 'saved_search_account_id_name_key', properties: ['account', 'name'] }],
});

export class SavedSearch extends SavedSearchSchema.class {}
SavedSearchSchema.setClass(SavedSearch);
