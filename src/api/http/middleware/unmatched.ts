import type { RequestHandler, Router } from 'express';
import { DomainError } from '../../../domain/common/errors.ts';
import { createRouter } from '../handler.ts';
import type { Operation, PathParameter } from '../operations.ts';
import { MethodNotAllowed } from './error-handler.ts';
import { readPathParameter } from './match-operation.ts';

/** Rejects what no route serves: 405 when the path is known, Unknown<Thing> when an id in it cannot be one, or 404. */
export function unmatched(operations: Iterable<Operation>): Router {
  const router = createRouter().use((_req, res, next) => {
    res.locals['unmatched'] = { allowed: [], malformed: null } satisfies Findings;
    next();
  });
  const byRoute = Map.groupBy(operations, ({ route }) => route);
  for (const [route, known] of byRoute) {
    router.all(route, (req, res, next) => {
      const findings: Findings = res.locals['unmatched'];
      const malformed = findMalformed(known[0]!.pathParameters, req.params);
      if (malformed === null) findings.allowed.push(...known.map(({ method }) => method.toUpperCase()));
      // An invalid id before a known verb explains more than an unknown verb.
      else if (findings.malformed === null || findings.malformed.unknown === 'NotFound') findings.malformed = malformed;
      next();
    });
  }
  return router.use(reject);
}

interface Findings {
  allowed: string[];
  malformed: Pick<PathParameter, 'name' | 'unknown'> | null;
}

const reject: RequestHandler = (_req, res) => {
  const { allowed, malformed }: Findings = res.locals['unmatched'];
  if (allowed.length > 0) throw new MethodNotAllowed(allowed);
  if (malformed) throw new DomainError(malformed.unknown, noSuch(malformed.name));
  throw new DomainError('NotFound', 'There is nothing at this address');
};

function findMalformed(parameters: readonly PathParameter[], values: Record<string, unknown>): Findings['malformed'] {
  for (const parameter of parameters) {
    const value = String(values[parameter.name]);
    if (readPathParameter(parameter, value) !== null) continue;
    return parameter.integer && value.includes(':') ? { ...parameter, unknown: 'NotFound' } : parameter;
  }
  return null;
}

function noSuch(parameter: string): string {
  return `There is no such ${parameter.replace(/_id$/, '').replaceAll('_', ' ')}`;
}
