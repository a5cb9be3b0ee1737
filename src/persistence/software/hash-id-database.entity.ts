import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '../identity/account.entity.ts';

export const HashIdDatabaseSchema = defineEntity({
  name: 'HashIdDatabase',
  tableName: 'hash_id_database',
  properties: {
    codeName: p.text().primary(),
    /** The only account there was, whose packages these are; null if they are known to several. */
    account: () => p.manyToOne(Account).deleteRule('cascade').ref().nullable().index('hash_id_database_account'),
    /** All ids that it ever held: agents keep the file that they have. */
    packages: p.text().columnType('int4multirange'),
    etag: p.text(),
    content: p.blob().$type<Buffer>(),
  },
});
