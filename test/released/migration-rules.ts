import type { Migration } from '@mikro-orm/migrations';
import { MIGRATIONS } from '../../src/persistence/orm/migrations/index.ts';

/** One migration as it runs: its statements in order, and whether in a transaction. */
export interface MigrationPlan {
  name: string;
  statements: string[];
  transactional: boolean;
}

/** Reads every migration without a database, in the order they run in. */
export async function planMigrations(): Promise<MigrationPlan[]> {
  const plans: MigrationPlan[] = [];
  for (const { name, class: Class } of MIGRATIONS) {
    // Only statements are collected: neither driver nor configuration is touched.
    const migration: Migration = new Class(undefined as never, undefined as never);
    await migration.up();
    plans.push({ name, statements: migration.getQueries().map(String), transactional: migration.isTransactional() });
  }
  return plans;
}

interface Rule {
  pattern: RegExp;
  why: string;
}

const CONSTRAINT = String.raw`(?:constraint|check|unique|foreign|primary|exclude|not)\b`;

/**
 * What would break, or hold up, a process of the version before that goes on running beside the new schema. Each is
 * tried on one action alone, in small letters and with single spaces; the word COLUMN may always be left out.
 */
const RULES: readonly Rule[] = [
  {
    pattern: /\bdrop (?:table|view|type|function|trigger|schema)\b|^alter table \S+ drop (?!constraint )/,
    why: 'takes away what old processes use',
  },
  { pattern: /\brename\b/, why: 'takes away the name that old processes use' },
  {
    pattern: /^alter table \S+ alter (?:column )?(?!column )\S+ (?:set data )?type\b/,
    why: 'rewrites the table under a lock',
  },
  {
    pattern: /^alter table \S+ alter (?:column )?(?!column )\S+ (?:set not null|drop default)\b/,
    why: 'rejects the rows that old processes write',
  },
  {
    pattern: new RegExp(String.raw`^alter table \S+ add (?!${CONSTRAINT})(?!.*\bdefault\b).*\bnot null\b`),
    why: 'rejects the rows that old processes write',
  },
  { pattern: new RegExp(String.raw`^alter table \S+ add ${CONSTRAINT}`), why: 'rejects rows of old processes' },
  { pattern: /^truncate\b/, why: 'removes rows' },
];
const TEXT_OR_COMMENT = /'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\//g;
const ALTER_TABLE = /\balter table (?:if exists )?(?:only )?([\w.]+) (.+)$/;
const NEW_TABLE = /\bcreate (?:unlogged )?table (?:if not exists )?([\w.]+)/g;
const NEW_INDEX_OR_CONSTRAINT =
  /\b(?:create (?:unique )?index (?:concurrently )?(?:if not exists )?|add constraint )([\w.]+)/g;
const INDEX = /\bcreate (unique )?index (concurrently )?(?:if not exists )?(?:[\w.]+ )?on (?:only )?([\w.]+)/;
const DROPPED = /\bdrop (?:index|constraint) (?:concurrently )?(?:if exists )?(.+?)(?: cascade| restrict)?$/;

/**
 * What keeps a migration from running while processes of the version before work: each problem as a sentence.
 *
 * @remarks What the same migration makes is nobody's yet: its tables may be given anything, its indexes go again.
 */
export function problemsOf({ statements, transactional }: Omit<MigrationPlan, 'name'>): string[] {
  const actions = statements.flatMap(actionsIn);
  const tables = namesIn(actions, NEW_TABLE);
  const others = namesIn(actions, NEW_INDEX_OR_CONSTRAINT);
  return actions.flatMap((action) => {
    const table = ALTER_TABLE.exec(action)?.[1];
    if (table !== undefined && tables.has(table)) return [];
    const broken = RULES.filter(({ pattern }) => pattern.test(action)).map(({ why }) => `${why}: ${shorten(action)}`);
    return [...broken, ...dropProblems(action, others), ...indexProblems(action, tables, transactional)];
  });
}

/** The statements of a text, blocks of code taken apart too, and of each ALTER TABLE every action as one of its own. */
function actionsIn(text: string): string[] {
  const bare = text.replace(TEXT_OR_COMMENT, (found) => (found.startsWith("'") ? "''" : ' '));
  const statements = bare.toLowerCase().replace(/\s+/g, ' ').replaceAll('"', '').split(';');
  return statements.flatMap((statement) => {
    const alter = ALTER_TABLE.exec(statement);
    return alter ? atCommas(alter[2]!).map((action) => `alter table ${alter[1]} ${action}`) : [statement.trim()];
  });
}

/** Splits at the commas outside of parentheses and brackets. */
function atCommas(list: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const letter of list) {
    if ('(['.includes(letter)) depth += 1;
    if (')]'.includes(letter)) depth -= 1;
    if (letter === ',' && depth === 0) parts.push('');
    else parts.push(`${parts.pop()}${letter}`);
  }
  return parts.map((part) => part.trim());
}

function namesIn(actions: readonly string[], pattern: RegExp): ReadonlySet<string> {
  return new Set(actions.flatMap((action) => [...action.matchAll(pattern)].map((match) => match[1]!)));
}

function dropProblems(action: string, own: ReadonlySet<string>): string[] {
  const names = DROPPED.exec(action)?.[1]?.split(/ ?, ?/) ?? [];
  if (names.every((name) => own.has(name))) return [];
  return [`takes away what old processes may name by on conflict: ${shorten(action)}`];
}

function indexProblems(action: string, own: ReadonlySet<string>, transactional: boolean): string[] {
  const index = INDEX.exec(action);
  if (!index || own.has(index[3]!)) return [];
  const problems: string[] = [];
  if (index[1]) problems.push(`rejects rows of old processes: ${shorten(action)}`);
  if (!index[2]) problems.push(`keeps writers out while it runs, use concurrently: ${shorten(action)}`);
  else if (transactional) problems.push(`runs outside a transaction only: ${shorten(action)}`);
  return problems;
}

const shorten = (action: string): string => action.slice(0, 120);
