import type { RequestHandler } from 'express';
import { MAX_INT4 } from '../../../domain/common/integers.ts';
import type { Operation, PathParameter } from '../operations.ts';

/** Reads the parameters of the path. With one that cannot be an id the request is left to the next route. */
export function matchOperation(operation: Operation): RequestHandler {
  return (req, res, next) => {
    const params: Record<string, string | number> = {};
    for (const parameter of operation.pathParameters) {
      const value = readPathParameter(parameter, String(req.params[parameter.name]));
      if (value === null) return next('route');
      params[parameter.name] = value;
    }
    res.locals.operation = operation;
    res.locals.params = params;
    next();
  };
}

/** @returns null when the value cannot be one */
export function readPathParameter({ integer }: PathParameter, value: string): string | number | null {
  if (!integer) return value.includes('\0') ? null : value;
  return /^[1-9]\d{0,9}$/.test(value) && Number(value) <= MAX_INT4 ? Number(value) : null;
}
