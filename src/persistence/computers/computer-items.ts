import type { Sql } from '../database/sql.ts';
import { Compilation } from '../query/compilation.ts';
import { blockSql, COMPUTER_BLOCKS, type ComputerBlock } from './computer-blocks.ts';
import { DETAILS, FIELDS, JOINS, VISIBLE } from './computer-columns.ts';

export interface ComputerView {
  blocks: ReadonlySet<ComputerBlock>;
  now: Date;
  /** Every key of the detail. */
  detailed?: boolean;
}

export const WITHOUT_BLOCKS: ComputerView = { blocks: new Set(), now: new Date(0) };

/** Reads computers by id, in that order, each as JSON text. Missing and invisible ones are left out. */
export async function readComputers(
  sql: Sql,
  scope: { accountId: number; groups: readonly number[] | null },
  ids: readonly number[],
  view: ComputerView,
): Promise<string[]> {
  const compilation = new Compilation({ accountId: scope.accountId, now: view.now, firstParameter: 4 });
  const statement = itemsStatement(view, compilation);
  const values = [scope.accountId, scope.groups, ids, ...compilation.values];
  const rows = await sql.query<{ id: number; body: string; more: string }>(statement, values, nameOf(view));
  // Concatenated here: the database is slow at cutting multi-byte texts.
  const bodies = new Map(rows.map(({ id, body, more }) => [id, more === '' ? body : `${body.slice(0, -1)}${more}}`]));
  return ids.flatMap((id) => bodies.get(id) ?? []);
}

function itemsStatement(view: ComputerView, compilation: Compilation): string {
  const { columns, joins, sometimes } = blockSql(view.blocks, compilation);
  return `
select c.id, row_to_json(shown)::text as body, ${sometimes} as more
from unnest($3::int[]) page(id) join computer c on c.id = page.id ${JOINS} ${joins}
cross join lateral (select ${FIELDS}${view.detailed ? DETAILS : ''}${columns}) shown
where ${VISIBLE}`;
}

/** Planning costs half as much as execution, but there are thousands of plans and each connection keeps its own. */
const MAX_NAMED = 32;
const named = new Set<string>();

function nameOf({ blocks, detailed }: ComputerView): string | undefined {
  const chosen = COMPUTER_BLOCKS.map((block) => (blocks.has(block) ? '1' : '0')).join('');
  const name = `computer-${detailed ? 'detail' : 'items'}-${chosen}`;
  if (named.size < MAX_NAMED) named.add(name);
  return named.has(name) ? name : undefined;
}
