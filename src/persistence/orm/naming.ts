import { UnderscoreNamingStrategy } from '@mikro-orm/core';

const SUFFIXES = { primary: 'pkey', foreign: 'fkey', unique: 'key', index: 'idx', check: 'check', sequence: 'seq' };

/** Columns as MikroORM names them; constraints and indexes as PostgreSQL does, and so the migrations. */
export class PostgresNames extends UnderscoreNamingStrategy {
  override classToMigrationName(timestamp: string, name = ''): string {
    return `Migration${timestamp}${name.replace(/(?:^|-)(\w)/g, (_, first: string) => first.toUpperCase())}`;
  }

  override indexName(tableName: string, columns: string[], type: keyof typeof SUFFIXES | 'default'): string {
    const parts = type === 'primary' ? [] : columns;
    return [tableName, ...parts, type === 'default' ? 'default' : SUFFIXES[type]].join('_');
  }
}
