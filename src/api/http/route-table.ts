import { DomainError } from '../../domain/common/errors.ts';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import type { Operation, PathParameter } from './operations.ts';

export interface Match {
  operation: Operation;
  params: Record<string, string | number>;
}

interface Template {
  pattern: RegExp;
  parameters: readonly PathParameter[];
  byMethod: Map<string, Operation>;
}

/**
 * Finds the operation of a method and path in a few steps, however many operations there are. The colon of a verb may
 * come as `%3A`, a trailing slash is accepted.
 * @see docs/decisions/0013-openapi-first.md#alternatives
 */
export class RouteTable {
  readonly #static = new Map<string, Template>();
  /** By number of segments and first segment. */
  readonly #dynamic = new Map<string, Template[]>();

  constructor(operations: readonly Operation[]) {
    const templates = new Map<string, Template>();
    for (const operation of operations) {
      const template = templates.get(operation.path) ?? toTemplate(operation);
      template.byMethod.set(operation.method.toUpperCase(), operation);
      templates.set(operation.path, template);
    }
    for (const [path, template] of templates) {
      if (template.parameters.length === 0) this.#static.set(path, template);
      else this.#group(path).push(template);
    }
  }

  /**
   * @param path - below the version prefix, still percent-encoded
   * @throws {DomainError} NotFound, Unknown<Thing> when an id cannot be one, MethodNotAllowed with `allow`
   */
  match(method: string, path: string): Match {
    const clean = normalise(path);
    const wanted = method === 'HEAD' ? 'GET' : method;
    const allowed = new Set<string>();
    let malformed: PathParameter | undefined;
    for (const template of this.#candidates(clean)) {
      const values = template.pattern.exec(clean)?.slice(1);
      if (!values) continue;
      const { params, bad } = readParameters(template, values);
      if (bad) {
        // An id before a known verb says more than a verb that is not known.
        if (!malformed || malformed.unknown === 'NotFound') malformed = bad;
        continue;
      }
      const operation = template.byMethod.get(wanted);
      if (operation) return { operation, params };
      for (const known of template.byMethod.keys()) allowed.add(known);
    }
    if (allowed.size > 0) throw new MethodNotAllowed([...allowed]);
    if (malformed) throw new DomainError(malformed.unknown, noSuch(malformed));
    throw new DomainError('NotFound', 'There is nothing at this address');
  }

  *#candidates(path: string): Iterable<Template> {
    const fixed = this.#static.get(path);
    if (fixed) yield fixed;
    yield* this.#dynamic.get(groupKey(path)) ?? [];
  }

  #group(path: string): Template[] {
    const key = groupKey(path);
    const group = this.#dynamic.get(key) ?? [];
    this.#dynamic.set(key, group);
    return group;
  }
}

/** The path is known, the method is not one of `allow`. */
export class MethodNotAllowed extends DomainError {
  readonly allow: string;

  constructor(methods: readonly string[]) {
    const allow = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
    super('MethodNotAllowed', `Only ${allow.join(', ')} can be used here`);
    this.allow = allow.join(', ');
  }
}

/** `computer_id` -> "There is no such computer": the same words for ids that never existed and for foreign ones. */
export function noSuch(parameter: { name: string }): string {
  return `There is no such ${parameter.name.replace(/_id$/, '').replaceAll('_', ' ')}`;
}

function toTemplate(operation: Operation): Template {
  const source = operation.path
    .split(/\{\w+\}/)
    .map((fixed) => fixed.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('([^/]+)');
  return { pattern: new RegExp(`^${source}$`), parameters: operation.pathParameters, byMethod: new Map() };
}

function readParameters(template: Template, values: readonly string[]) {
  const params: Record<string, string | number> = {};
  for (const [index, parameter] of template.parameters.entries()) {
    const value = decode(values[index]!);
    if (value === null) return { params, bad: parameter };
    if (!parameter.integer) params[parameter.name] = value;
    else if (/^[1-9]\d{0,9}$/.test(value) && Number(value) <= MAX_INT4) params[parameter.name] = Number(value);
    else return { params, bad: { ...parameter, ...(value.includes(':') ? { unknown: 'NotFound' as const } : {}) } };
  }
  return { params, bad: undefined };
}

function decode(value: string): string | null {
  try {
    const text = decodeURIComponent(value);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

function normalise(path: string): string {
  const colons = path.includes('%') ? path.replace(/%3a/gi, ':') : path;
  return colons.length > 1 && colons.endsWith('/') ? colons.slice(0, -1) : colons;
}

function groupKey(path: string): string {
  const segments = path.split('/');
  return `${segments.length}/${segments[1]}`;
}
