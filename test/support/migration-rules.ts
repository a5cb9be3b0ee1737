import type { Migration } from '@mikro-orm/migrations';
import { MIGRATIONS } from '../../src/persistence/migrations/index.ts';

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

/** What would break, or hold up, a process of the version before that goes on running beside the new schema. */
const RULES: readonly Rule[] = [
  { pattern: /\bdrop\s+(table|column|view|type|function|trigger|schema)\b/, why: 'takes away what old processes use' },
  { pattern: /\brename\b/, why: 'takes away the name that old processes use' },
  { pattern: /\balter\s+column\s+\S+\s+(set\s+data\s+)?type\b/, why: 'rewrites the table under a lock' },
  { pattern: /\bset\s+not\s+null\b/, why: 'refuses the rows that old processes write' },
  {
    pattern: /\badd\s+column\s+(?!.*\bdefault\b)[^,;]*\bnot\s+null\b/,
    why: 'refuses the rows that old processes write',
  },
  { pattern: /\badd\s+(constraint\s+\S+\s+)?(check|unique|foreign|primary)\b/, why: 'refuses rows of old processes' },
  { pattern: /^\s*truncate\b/, why: 'removes rows' },
];
const NEW_TABLE = /\bcreate\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?"?(\w+)"?/g;
const INDEX = /\bcreate\s+(unique\s+)?index\s+(concurrently\s+)?(?:if\s+not\s+exists\s+)?\S+\s+on\s+"?(\w+)"?/;

/**
 * What keeps a migration from running while processes of the version before work: each problem as a sentence.
 *
 * @remarks A table made by the same migration is nobody's yet and may be given anything.
 */
export function problemsOf({ statements, transactional }: Omit<MigrationPlan, 'name'>): string[] {
  const texts = statements.map((text) => text.toLowerCase().replace(/'(?:[^']|'')*'/g, "''"));
  const own = new Set(texts.flatMap((text) => [...text.matchAll(NEW_TABLE)].map((match) => match[1]!)));
  return texts.flatMap((text) => {
    const on = /\balter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?"?(\w+)"?/.exec(text)?.[1];
    if (on !== undefined && own.has(on)) return [];
    const broken = RULES.filter(({ pattern }) => pattern.test(text)).map(({ why }) => `${why}: ${shorten(text)}`);
    return [...broken, ...indexProblems(text, own, transactional)];
  });
}

function indexProblems(text: string, own: ReadonlySet<string>, transactional: boolean): string[] {
  const index = INDEX.exec(text);
  if (!index || own.has(index[3]!)) return [];
  const problems: string[] = [];
  if (index[1]) problems.push(`refuses rows of old processes: ${shorten(text)}`);
  if (!index[2]) problems.push(`keeps writers out while it runs, use concurrently: ${shorten(text)}`);
  else if (transactional) problems.push(`runs outside a transaction only: ${shorten(text)}`);
  return problems;
}

const shorten = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 120);
