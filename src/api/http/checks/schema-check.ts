import { nearestName } from '../../../domain/common/nearest-name.ts';
import { quoted } from '../../../services/common/fields.ts';
import type { JsonSchema, OpenApiDocument } from '../../openapi/objects.ts';
import { resolveReference } from '../../openapi/reading.ts';
import { Findings } from './findings.ts';
import { isObject, type Rule, ruleOf, typeMessage, typesOf, typeTest } from './value-rules.ts';

/** How values of one schema are checked. */
export interface ValueCheck {
  /** For the value by itself. */
  rule: Rule;
  /** Notes every fault within a value that is right by itself; null where nothing can be within. */
  look: ((value: unknown, path: string, findings: Findings) => void) | null;
  types: ReturnType<typeof typesOf>;
}

/** What an object does not know although its reader might think so. */
export interface Hints {
  /** What to say of an unknown field whose name is known from somewhere else; null for any other. */
  hintOf(path: string, key: string): { message: string; isRefused: boolean } | null;
}

/**
 * Prepares the check of a schema. It takes what the validator takes, as far as it looks, and names every fault where
 * that names one: in words for people, each place once.
 *
 * @throws when the schema has a keyword that is not known here
 */
export function prepareCheck(document: OpenApiDocument, given: JsonSchema, hints: Hints): ValueCheck {
  return prepare({ document, hints }, given);
}

/** Whether a value is wrong, noted under its path. */
export function checkValue(check: ValueCheck, value: unknown, path: string, findings: Findings): void {
  const fault = check.rule(value);
  if (fault !== null) findings.add(path, fault);
  else check.look?.(value, path, findings);
}

interface Context {
  document: OpenApiDocument;
  hints: Hints;
}

type Look = NonNullable<ValueCheck['look']>;

function prepare(context: Context, given: JsonSchema): ValueCheck {
  const schema = resolveReference<JsonSchema>(context.document, given);
  const left = (schema['x-service-checks'] ?? []) as string[];
  const branches = ['oneOf', 'anyOf'].flatMap((keyword) =>
    left.includes(keyword) ? [] : ((schema[keyword] ?? []) as JsonSchema[]),
  );
  const all = left.includes('allOf') ? [] : ((schema['allOf'] ?? []) as JsonSchema[]);
  const looks = [
    schema['properties'] || schema['required'] || isObject(schema['additionalProperties'])
      ? lookIntoObject(context, schema)
      : null,
    schema['items'] ? lookIntoList(context, schema['items'] as JsonSchema) : null,
    ...all.map((part) => prepare(context, part).look),
  ].filter((look): look is Look => look !== null);
  const own = { rule: ruleOf(schema), look: inTurn(looks), types: typesOf(schema) };
  return branches.length > 0 ? withBranches(context, schema, own, branches) : own;
}

function inTurn(looks: readonly Look[]): Look | null {
  if (looks.length <= 1) return looks[0] ?? null;
  return (value, path, findings) => {
    for (const look of looks) look(value, path, findings);
  };
}

function lookIntoObject(context: Context, schema: JsonSchema): Look {
  const properties = new Map(
    Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>).map(
      ([name, property]) => [name, prepare(context, property)] as const,
    ),
  );
  const required = (schema['required'] ?? []) as string[];
  const others = schema['additionalProperties'];
  const isClosed = others === false;
  const otherCheck = isObject(others) ? prepare(context, others) : null;
  return (value, path, findings) => {
    if (!isObject(value)) return;
    for (const name of required) if (!Object.hasOwn(value, name)) findings.add(`${path}.${name}`, 'is required');
    for (const key of Object.keys(value)) {
      if (findings.isFull) return;
      const check = properties.get(key) ?? otherCheck;
      if (check) checkValue(check, value[key], `${path}.${key}`, findings);
      else if (isClosed) checkUnknown(context, value, { path, key, known: properties.keys() }, findings);
    }
  };
}

function checkUnknown(
  { hints }: Context,
  value: Record<string, unknown>,
  { path, key, known }: { path: string; key: string; known: Iterable<string> },
  findings: Findings,
): void {
  const hint = hints.hintOf(path, key);
  if (hint?.isRefused) {
    findings.add(`${path}.${key}`, hint.message);
    return;
  }
  const isIgnored = findings.addUnknown(path, key, () => hint?.message ?? unknownMessage('field', key, known));
  if (isIgnored) delete value[key];
}

/** `unknown field "deliver_afer"; did you mean "deliver_after"?` */
export function unknownMessage(what: 'field' | 'parameter', key: string, known: Iterable<string>): string {
  const nearest = nearestName(key, known);
  return `unknown ${what} ${quoted(key)}${nearest === null ? '' : `; did you mean "${nearest}"?`}`;
}

function lookIntoList(context: Context, schema: JsonSchema): Look {
  const { rule, look } = prepare(context, schema);
  return (value, path, findings) => {
    if (!Array.isArray(value)) return;
    // A hundred thousand entries may come: their paths are made where something is wrong.
    for (let i = 0; i < value.length; i++) {
      const fault = rule(value[i]);
      if (fault !== null) findings.add(`${path}.${i}`, fault);
      else look?.(value[i], `${path}.${i}`, findings);
      if (findings.isFull) return;
    }
  };
}

/** Of several schemas the one that is for such a value says what is wrong with it. */
function withBranches(
  context: Context,
  schema: JsonSchema,
  own: ValueCheck,
  schemas: readonly JsonSchema[],
): ValueCheck {
  const branches = schemas.map((branch) => {
    const check = prepare(context, branch);
    return { ...check, isFor: typeTest(check.types) };
  });
  const selector = selectorOf(context, schemas);
  const isUntyped = branches.some((branch) => branch.types.length === 0);
  if (selector || isUntyped) {
    const look = selector ? lookBySelector(selector, branches) : lookByTrial(branches);
    return { ...own, look: inTurn(own.look ? [own.look, look] : [look]) };
  }
  const types = [...own.types, ...branches.flatMap((branch) => branch.types)];
  const message = schema['x-message'] as string | undefined;
  const branchOf = (value: unknown) => branches.find(({ isFor }) => isFor(value));
  return {
    types,
    rule(value) {
      const branch = branchOf(value);
      if (!branch) return message ?? typeMessage(types);
      const fault = own.rule(value) ?? branch.rule(value);
      return fault && (message ?? fault);
    },
    look(value, path, findings) {
      own.look?.(value, path, findings);
      branchOf(value)?.look?.(value, path, findings);
    },
  };
}

/** Where nothing tells the branches apart: one has to take the value, or the last says what is wrong with it. */
function lookByTrial(branches: readonly ValueCheck[]): Look {
  return (value, path, findings) => {
    let trial = new Findings('refuse');
    for (const branch of branches) {
      trial = new Findings('refuse');
      checkValue(branch, value, path, trial);
      if (trial.refusal === null) return;
    }
    for (const fault of trial.refusal?.details ?? []) findings.add(fault.path!, fault.message);
  };
}

/** The property whose value tells the branches apart. */
interface Selector {
  name: string;
  values: unknown[];
}

function selectorOf({ document }: Context, schemas: readonly JsonSchema[]): Selector | null {
  const onlyValues = schemas.map((given) => {
    const { properties = {} } = resolveReference<JsonSchema>(document, given) as {
      properties?: Record<string, JsonSchema>;
    };
    const [found] = Object.entries(properties).filter(([, p]) => Array.isArray(p['enum']) && p['enum'].length === 1);
    return found ? { name: found[0], value: (found[1]['enum'] as unknown[])[0] } : null;
  });
  const name = onlyValues[0]?.name;
  if (name === undefined || onlyValues.some((only) => only?.name !== name)) return null;
  return { name, values: onlyValues.map((only) => only!.value) };
}

function lookBySelector({ name, values }: Selector, branches: readonly ValueCheck[]): Look {
  return (value, path, findings) => {
    const selected = (value as Record<string, unknown>)[name];
    const branch = branches[values.indexOf(selected)];
    if (branch) branch.look?.(value, path, findings);
    else if (selected === undefined || selected === null) findings.add(`${path}.${name}`, 'is required');
    else findings.add(`${path}.${name}`, `must be one of ${values.join(', ')}`);
  };
}
