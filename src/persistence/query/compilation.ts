import type { Query } from '../../domain/query/parser.ts';

/** A condition and the values of its parameters. Its text depends on the shape of the query alone. */
export interface SqlCondition {
  text: string;
  values: CompiledValues;
}

export interface CompiledValues {
  readonly accountId: number;
  readonly now: Date;
  [name: string]: unknown;
}

export const ACCOUNT = ':accountId::int';
export const NOW = ':now::timestamptz';

/** Collects the parameters of a statement while a query is translated to SQL, beside those of its scope. */
export class Compilation {
  readonly values: CompiledValues;
  #count = 0;

  constructor(scope: CompiledValues) {
    this.values = { ...scope };
  }

  /** Adds a parameter. @returns its placeholder with a cast, such as `:q3::int` */
  value(value: unknown, type: 'int' | 'int[]' | 'text' | 'text[]' | 'timestamptz'): string {
    this.#count += 1;
    this.values[`q${this.#count}`] = value;
    return `:q${this.#count}::${type}`;
  }
}

/** SQL over an object for each kind of criterion of a query language. */
export type Conditions<C extends { kind: string }, Rest extends unknown[] = []> = {
  readonly [Kind in C['kind']]: (criterion: C & { kind: Kind }, compilation: Compilation, ...rest: Rest) => string;
};

/** SQL of a query. @param negate - makes the SQL of a negation */
export function queryText<C>(
  { clauses }: Query<C>,
  conditionOf: (criterion: C) => string,
  negate: (condition: string) => string,
): string {
  if (clauses.length === 0) return 'true';
  const texts = clauses.map((factors) => {
    const alternatives = factors.map(({ negated, criterion }) => {
      const condition = conditionOf(criterion);
      return negated ? negate(condition) : condition;
    });
    return alternatives.length === 1 ? alternatives[0]! : `(${alternatives.join(' or ')})`;
  });
  return texts.join('\n and ');
}
