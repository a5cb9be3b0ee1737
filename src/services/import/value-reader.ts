import { parseInstant } from '../../domain/common/instant.ts';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import type { ImportProblem } from './document.ts';

const MAX_LINE = 255;

/** Reads values of parsed JSON and collects all problems with their paths. */
export class ValueReader {
  readonly problems: ImportProblem[] = [];

  addProblem(path: string, message: string): void {
    this.problems.push({ path, message });
  }

  /** An object with only these keys; null for any other value. */
  object(value: unknown, path: string, keys: readonly string[]): Record<string, unknown> | null {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.addProblem(path, 'must be an object');
      return null;
    }
    for (const key of Object.keys(value)) {
      if (!keys.includes(key)) this.addProblem(at(path, key), `is unknown here; known are ${keys.join(', ')}`);
    }
    return Object.fromEntries(keys.map((key) => [key, Object.hasOwn(value, key) ? (value as never)[key] : undefined]));
  }

  /** Maps an array with `read` and omits nulls; empty when absent. */
  list<T>(value: unknown, path: string, read: (item: unknown, path: string) => T | null): T[] {
    if (value === undefined) return [];
    if (!Array.isArray(value)) {
      this.addProblem(path, 'must be an array');
      return [];
    }
    return value.flatMap((item, index) => read(item, `${path}[${index}]`) ?? []);
  }

  id(value: unknown, path: string): number {
    if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_INT4) return value as number;
    this.addProblem(path, `must be an integer from 1 to ${MAX_INT4}`);
    return 0;
  }

  /** One line of 1 to 255 characters, trimmed. */
  line(value: unknown, path: string): string {
    const text = typeof value === 'string' ? value.trim() : '';
    if (text !== '' && [...text].length <= MAX_LINE && text.isWellFormed() && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text))
      return text;
    this.addProblem(path, `must be one line of 1 to ${MAX_LINE} characters`);
    return '';
  }

  /** As `line`; empty when absent. */
  optionalLine(value: unknown, path: string): string {
    return value === undefined ? '' : this.line(value, path);
  }

  flag(value: unknown, path: string): boolean {
    if (value === undefined || typeof value === 'boolean') return value ?? false;
    this.addProblem(path, 'must be true or false');
    return false;
  }

  moment(value: unknown, path: string): Date | null {
    if (value === undefined || value === null) return null;
    const moment = typeof value === 'string' ? parseInstant(value) : null;
    if (!moment) this.addProblem(path, 'must be an ISO 8601 date and time, or null');
    return moment;
  }

  oneOf<T extends string>(value: unknown, path: string, values: readonly T[]): T {
    const found = values.find((known) => known === value);
    if (found === undefined) this.addProblem(path, `must be one of ${values.join(', ')}`);
    return found ?? values[0]!;
  }

  /** Adds a problem for each element whose key occurred before. */
  distinct<T>(items: readonly T[], path: string, keyOf: (item: T) => string, what: string): void {
    const seen = new Set<string>();
    items.forEach((item, index) => {
      const key = keyOf(item);
      if (seen.has(key)) this.addProblem(`${path}[${index}]`, `repeats ${what}`);
      seen.add(key);
    });
  }
}

function at(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
