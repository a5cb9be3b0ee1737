import type { JsonSchema } from '../../openapi/objects.ts';
import { TEXT_FORMATS } from './text-formats.ts';

/** Returns what is wrong with a value itself, without its parts, or null. */
export type Rule = (value: unknown) => string | null;

type TypeName = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

const TYPES: Readonly<Record<TypeName, { words: string; isOf: (value: unknown) => boolean }>> = {
  integer: { words: 'an integer', isOf: Number.isInteger },
  number: { words: 'a number', isOf: Number.isFinite },
  string: { words: 'a string', isOf: (value) => typeof value === 'string' },
  boolean: { words: 'true or false', isOf: (value) => typeof value === 'boolean' },
  array: { words: 'a list', isOf: Array.isArray },
  object: { words: 'an object', isOf: isObject },
  null: { words: 'null', isOf: (value) => value === null },
};

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function typesOf(schema: JsonSchema): TypeName[] {
  return [schema['type'] ?? []].flat() as TypeName[];
}

/** Whether values have one of the types; without types any value does. */
export function typeTest(types: readonly TypeName[]): (value: unknown) => boolean {
  const tests = types.map((type) => TYPES[type].isOf);
  if (tests.length <= 1) return tests[0] ?? (() => true);
  return (value) => tests.some((isOf) => isOf(value));
}

/** `must be an integer or a string`. */
export function typeMessage(types: readonly TypeName[]): string {
  return `must be ${[...new Set(types)].map((type) => TYPES[type].words).join(' or ')}`;
}

/** Keywords that are rules, in the order of their evaluation. */
const RULES: Readonly<Record<string, (limit: never, schema: JsonSchema) => Rule>> = {
  enum: (values: unknown[]) => {
    const words = values.filter((value) => value !== null).map(String);
    const message = words.length === 1 ? `must be ${words[0]}` : `must be one of ${words.join(', ')}`;
    return (value) => (values.includes(value) ? null : message);
  },
  const: (only: unknown) => (value) => (value === only ? null : `must be ${JSON.stringify(only)}`),
  minimum: (least: number) => (value) => (typeof value === 'number' && value < least ? `must be >= ${least}` : null),
  maximum: (most: number) => (value) => (typeof value === 'number' && value > most ? `must be <= ${most}` : null),
  minLength: (least: number) => {
    const message = least === 1 ? 'must not be empty' : `must have at least ${least} characters`;
    return (value) => (typeof value === 'string' && isShorter(value, least) ? message : null);
  },
  maxLength: (most: number) => (value) =>
    typeof value === 'string' && isLonger(value, most) ? `must not have more than ${most} characters` : null,
  minItems: (least: number) => {
    const message = least === 1 ? 'must not be empty' : `must have at least ${least} entries`;
    return (value) => (Array.isArray(value) && value.length < least ? message : null);
  },
  maxItems: (most: number) => (value) =>
    Array.isArray(value) && value.length > most ? `must not have more than ${most} entries` : null,
  maxProperties: (most: number) => (value) =>
    isObject(value) && Object.keys(value).length > most ? `must not have more than ${most} fields` : null,
  pattern: (source: string) => {
    const pattern = new RegExp(source, 'u');
    return (value) => (typeof value === 'string' && !pattern.test(value) ? `must match the pattern ${source}` : null);
  },
  not: (excluded: JsonSchema) => {
    const rule = ruleOf(excluded);
    return (value) => (rule(value) === null ? 'is not allowed' : null);
  },
  'x-format': (name: string) => {
    const check = TEXT_FORMATS[name];
    if (!check) throw new Error(`OpenAPI: there is no x-format ${name}`);
    return (value) => (typeof value === 'string' ? check(value) : null);
  },
};

const OTHER_KEYWORDS = new Set(
  `type properties required additionalProperties items oneOf anyOf allOf uniqueItems default description examples format
  $ref x-service-checks x-message x-selectors`.split(/\s+/),
);

/** Ignores parts; `x-message` replaces messages of all keywords but `type`. @throws on an unsupported keyword */
export function ruleOf(schema: JsonSchema): Rule {
  const unknown = Object.keys(schema).filter((keyword) => !(keyword in RULES) && !OTHER_KEYWORDS.has(keyword));
  if (unknown.length > 0) throw new Error(`OpenAPI: requests are not checked for ${unknown.join(', ')}`);
  const types = typesOf(schema);
  const skipped = (schema['x-service-checks'] ?? []) as string[];
  const rules = Object.entries(RULES).flatMap(([keyword, make]) =>
    keyword in schema && !skipped.includes(keyword) ? [make(schema[keyword] as never, schema)] : [],
  );
  const message = schema['x-message'] as string | undefined;
  const wrongType = typeMessage(types);
  const isOfType = typeTest(types);
  return (value) => {
    if (!isOfType(value)) return wrongType;
    if (value === null) return null;
    for (const rule of rules) {
      const fault = rule(value);
      if (fault !== null) return message ?? fault;
    }
    return null;
  };
}

/** Counts characters, not UTF-16 units, and only when necessary. */
function isLonger(text: string, most: number): boolean {
  if (text.length <= most) return false;
  if (text.length > 2 * most) return true;
  return [...text].length > most;
}

function isShorter(text: string, least: number): boolean {
  return text.length < least || (text.length < 2 * least && [...text].length < least);
}
