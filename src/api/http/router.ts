import { Router } from 'express';

export function createRouter(): Router {
  return Router({ caseSensitive: true });
}

/** A path of the document in the syntax of Express. */
export function routePath(path: string): string {
  return path.replaceAll(':', '\\:').replace(/\{(\w+)\}/g, ':$1');
}
