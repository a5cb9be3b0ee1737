import { describe, expect, it } from 'vitest';
import { isUnfinished, suggest, termAt } from '../../../web/src/query/completion.ts';

const TAGS = ['lab', 'web', 'web-old'].map((value) => ({ value, hint: '' }));
const texts = (text: string, caret = text.length) => suggest(text, caret, TAGS).map((suggestion) => suggestion.text);

describe('completion of queries', () => {
  it('finds the term at the caret, also within quotes', () => {
    expect(termAt('web tag:la NOT id:3', 10)).toEqual({ start: 4, end: 10, typed: 'tag:la', selector: 'tag' });
    expect(termAt('a title:"lab o', 14)).toMatchObject({ start: 2, typed: 'title:"lab o', selector: 'title' });
    expect(termAt('', 0)).toEqual({ start: 0, end: 0, typed: '', selector: null });
  });

  it('completes selectors by how they begin', () => {
    expect(texts('ta')).toEqual(['tag:']);
    expect(texts('web NOT need')).toEqual(['web NOT needs:']);
    expect(texts('constructor:x')).toEqual([]);
    expect(texts('')).toContain('access-group:');
  });

  it('completes values, and keeps what stands around them', () => {
    expect(texts('tag:we')).toEqual(['tag:web ', 'tag:web-old ']);
    expect(texts('tag:la OR tag:x', 6)).toEqual(['tag:lab OR tag:x']);
    expect(texts('tag:web')).toEqual(['tag:web-old ']);
  });

  it('quotes values with spaces and quotes', () => {
    const [suggestion] = suggest('tag:', 4, [{ value: 'a "b" \\', hint: '' }]);
    expect(suggestion!.text).toBe('tag:"a \\"b\\" \\\\" ');
  });
});

it('leaves a query alone whose end is missing', () => {
  for (const text of ['tag:', 'web OR ', 'NOT', 'title:"lab']) expect(isUnfinished(text)).toBe(true);
  for (const text of ['', 'web', 'tag:web', 'WEBOR', 'title:"lab 1"']) expect(isUnfinished(text)).toBe(false);
});
