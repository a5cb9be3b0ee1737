import { nearestName } from '../../../domain/common/nearest-name.ts';
import { quoted } from '../../../services/common/fields.ts';
import { type JsonSchema, type OpenApiDocument, resolveReference } from '../../openapi/objects.ts';
import { RequestFaults } from './request-faults.ts';
import { isObject, type Rule, ruleOf, typeMessage, typesOf, typeTest } from './value-rules.ts';

type NestedCheck = (value: unknown, path: string, findings: RequestFaults) => void;

interface ValueCheck {
  rule: Rule;
  /** Reports faults within a value that satisfies `rule`; null for values without parts. */
  checkNested: NestedCheck | null;
  types: ReturnType<typeof typesOf>;
}

export interface CheckContext {
  document: OpenApiDocument;
  /** Message for an unknown field whose name is known from elsewhere; null for any other. */
  hintOf(path: string, key: string): { message: string; isReadOnly: boolean } | null;
}

/** Adds the faults of `value` to `findings`. Never throws. */
export function checkValue(check: ValueCheck, value: unknown, path: string, findings: RequestFaults): void {
  const fault = check.rule(value);
  if (fault !== null) findings.add(path, fault);
  else check.checkNested?.(value, path, findings);
}

/** Accepts what the validator accepts, but reports all faults, once per path. @throws on an unsupported keyword */
export function prepareCheck(context: CheckContext, given: JsonSchema): ValueCheck {
  const schema = resolveReference<JsonSchema>(context.document, given);
  const skipped = (schema['x-service-checks'] ?? []) as string[];
  const listOf = (keyword: string) => (skipped.includes(keyword) ? [] : ((schema[keyword] ?? []) as JsonSchema[]));
  const branches = [...listOf('oneOf'), ...listOf('anyOf')];
  const nested = [
    schema['properties'] || schema['required'] || isObject(schema['additionalProperties'])
      ? checkProperties(context, schema)
      : null,
    schema['items'] ? checkItems(context, schema['items'] as JsonSchema) : null,
    ...listOf('allOf').map((part) => prepareCheck(context, part).checkNested),
  ].filter((check) => check !== null);
  const own = { rule: ruleOf(schema), checkNested: combine(nested), types: typesOf(schema) };
  return branches.length > 0 ? withBranches(context, schema, own, branches) : own;
}

function combine(checks: readonly NestedCheck[]): NestedCheck | null {
  if (checks.length <= 1) return checks[0] ?? null;
  return (value, path, findings) => {
    for (const check of checks) check(value, path, findings);
  };
}

function checkProperties(context: CheckContext, schema: JsonSchema): NestedCheck {
  const declared = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  const properties = new Map(declared.map(([name, property]) => [name, prepareCheck(context, property)]));
  const required = (schema['required'] ?? []) as string[];
  const others = schema['additionalProperties'];
  const otherCheck = isObject(others) ? prepareCheck(context, others) : null;
  return (value, path, findings) => {
    if (!isObject(value)) return;
    for (const name of required) if (!Object.hasOwn(value, name)) findings.add(`${path}.${name}`, 'is required');
    for (const key of Object.keys(value)) {
      if (findings.isFull) return;
      const check = properties.get(key) ?? otherCheck;
      if (check) checkValue(check, value[key], `${path}.${key}`, findings);
      else if (others === false) checkUnknown(context, value, { path, key, known: properties.keys() }, findings);
    }
  };
}

function checkUnknown(
  { hintOf }: CheckContext,
  value: Record<string, unknown>,
  { path, key, known }: { path: string; key: string; known: Iterable<string> },
  findings: RequestFaults,
): void {
  const hint = hintOf(path, key);
  const describe = () => hint?.message ?? unknownMessage('field', key, known);
  if (hint?.isReadOnly) findings.add(`${path}.${key}`, hint.message);
  else if (findings.addUnknown(path, key, describe)) delete value[key];
}

/** `unknown field "deliver_afer"; did you mean "deliver_after"?` */
export function unknownMessage(what: 'field' | 'parameter', key: string, known: Iterable<string>): string {
  const nearest = nearestName(key, known);
  return `unknown ${what} ${quoted(key)}${nearest === null ? '' : `; did you mean "${nearest}"?`}`;
}

function checkItems(context: CheckContext, schema: JsonSchema): NestedCheck {
  const { rule, checkNested } = prepareCheck(context, schema);
  return (value, path, findings) => {
    if (!Array.isArray(value)) return;
    // There may be a hundred thousand entries, so paths are built only where needed.
    for (let i = 0; i < value.length; i++) {
      const fault = rule(value[i]);
      if (fault !== null) findings.add(`${path}.${i}`, fault);
      else checkNested?.(value[i], `${path}.${i}`, findings);
      if (findings.isFull) return;
    }
  };
}

function withBranches(
  context: CheckContext,
  schema: JsonSchema,
  own: ValueCheck,
  schemas: readonly JsonSchema[],
): ValueCheck {
  const branches = schemas.map((branch) => {
    const check = prepareCheck(context, branch);
    return { ...check, isFor: typeTest(check.types) };
  });
  const selector = findDiscriminator(context, schemas);
  if (selector || branches.some(({ types }) => types.length === 0)) {
    const checkBranch = selector ? checkByDiscriminator(selector, branches) : checkByTrial(branches);
    return { ...own, checkNested: combine(own.checkNested ? [own.checkNested, checkBranch] : [checkBranch]) };
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
    checkNested(value, path, findings) {
      own.checkNested?.(value, path, findings);
      branchOf(value)?.checkNested?.(value, path, findings);
    },
  };
}

function checkByTrial(branches: readonly ValueCheck[]): NestedCheck {
  return (value, path, findings) => {
    let trial = new RequestFaults('refuse');
    for (const branch of branches) {
      trial = new RequestFaults('refuse');
      checkValue(branch, value, path, trial);
      if (trial.error === null) return;
    }
    for (const fault of trial.error?.details ?? []) findings.add(fault.path!, fault.message);
  };
}

interface Discriminator {
  name: string;
  values: unknown[];
}

function findDiscriminator({ document }: CheckContext, schemas: readonly JsonSchema[]): Discriminator | null {
  const onlyValues = schemas.map((given) => {
    const properties = (resolveReference<JsonSchema>(document, given)['properties'] ?? {}) as Record<
      string,
      JsonSchema
    >;
    const [found] = Object.entries(properties).filter(([, p]) => Array.isArray(p['enum']) && p['enum'].length === 1);
    return found ? { name: found[0], value: (found[1]['enum'] as unknown[])[0] } : null;
  });
  const name = onlyValues[0]?.name;
  if (name === undefined || onlyValues.some((only) => only?.name !== name)) return null;
  return { name, values: onlyValues.map((only) => only!.value) };
}

function checkByDiscriminator({ name, values }: Discriminator, branches: readonly ValueCheck[]): NestedCheck {
  return (value, path, findings) => {
    const selected = (value as Record<string, unknown>)[name];
    const branch = branches[values.indexOf(selected)];
    if (branch) branch.checkNested?.(value, path, findings);
    else if (selected === undefined || selected === null) findings.add(`${path}.${name}`, 'is required');
    else findings.add(`${path}.${name}`, `must be one of ${values.join(', ')}`);
  };
}
