import { LockMode } from '@mikro-orm/core';
import type { Paged, PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import { Webhook } from './webhook.entity.ts';

/** Webhooks of an account, newest first. */
export async function listWebhooks(sql: Sql, account: number, page: PageRequest): Promise<Paged<Webhook>> {
  const [results, count] = await sql.em.findAndCount(Webhook, { account }, { ...page, orderBy: { id: 'desc' } });
  return { count, results };
}

export function findWebhook(sql: Sql, account: number, id: number): Promise<Webhook | null> {
  return sql.em.findOne(Webhook, { id, account });
}

/** Locked until the transaction ends. @param account - null for the delivery, which has only ids */
export function lockWebhook(tx: Sql, account: number | null, id: number): Promise<Webhook | null> {
  const which = account === null ? { id } : { id, account };
  return tx.em.findOne(Webhook, which, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

export function countWebhooks(tx: Sql, account: number): Promise<number> {
  return tx.em.count(Webhook, { account });
}

/** Webhooks with a secret that is encrypted with one of `readable`, but not with `keyId`; skips locked ones. */
export function lockWebhooksOfOtherKeys(
  tx: Sql,
  { keyId, readable, limit }: { keyId: string; readable: string[]; limit: number },
): Promise<Webhook[]> {
  const isOther = { $ne: keyId, $in: readable };
  return tx.em.find(
    Webhook,
    { $or: [{ keyId: isOther }, { previousKeyId: isOther }] },
    { orderBy: { id: 'asc' }, limit, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE },
  );
}
