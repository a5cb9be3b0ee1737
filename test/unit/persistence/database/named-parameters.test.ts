import { describe, expect, it } from 'vitest';
import { positional } from '../../../../src/persistence/database/named-parameters.ts';

describe('named parameters', () => {
  it('are numbered in the order of appearance, one number for one name', () => {
    const statement = positional('select :b::int, :a, :b', { a: 1, b: 2, unused: 3 });
    expect(statement).toEqual({ text: 'select $1::int, $2, $1', values: [2, 1] });
  });

  it('are taken anew from each call', () => {
    const text = 'select :value';
    expect(positional(text, { value: 1 }).values).toEqual([1]);
    expect(positional(text, { value: 2 }).values).toEqual([2]);
  });

  it('leave casts, times and unknown names alone', () => {
    const text = `select now()::text, to_char(now(), 'HH24:MI'), :missing`;
    expect(positional(text, { other: 1 })).toEqual({ text, values: [] });
  });

  it('leave a statement with an array of values alone', () => {
    expect(positional('select $1', [1])).toEqual({ text: 'select $1', values: [1] });
  });
});
