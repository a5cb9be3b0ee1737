import type { Query } from '../../domain/query/parser.ts';

/** A condition and the values of its parameters. Its text depends on the shape of the query alone. */
export interface SqlCondition {
  text: string;
  values: readonly unknown[];
}

/** Collects the parameters of a statement while a query is translated to SQL. */
export class Compilation {
  readonly values: unknown[] = [];
  readonly #firstParameter: number;
  readonly #accountId: number;
  readonly moment: Date;
  #account: string | undefined;
  #now: string | undefined;

  constructor(scope: { accountId: number; now: Date; firstParameter: number }) {
    this.#firstParameter = scope.firstParameter;
    this.#accountId = scope.accountId;
    this.moment = scope.now;
  }

  /** Adds a parameter. @returns its placeholder with a cast, such as `$3::int` */
  value(value: unknown, type: 'int' | 'int[]' | 'text' | 'text[]' | 'timestamptz'): string {
    this.values.push(value);
    return `$${this.#firstParameter + this.values.length - 1}::${type}`;
  }

  /** Placeholder of the account's id, added once. */
  account(): string {
    this.#account ??= this.value(this.#accountId, 'int');
    return this.#account;
  }

  /** Placeholder of the time of the query, added once. */
  now(): string {
    this.#now ??= this.value(this.moment, 'timestamptz');
    return this.#now;
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
