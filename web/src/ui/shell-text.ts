export interface RequestToCopy {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/api/v2`. */
  path: string;
  body?: unknown;
}

/** A request as curl, with the token in `$FLOTILLA_TOKEN`. */
export function curlOf({ method, path, body }: RequestToCopy, origin: string): string {
  const parts = [
    'curl',
    '-X',
    method,
    quote(`${origin}/api/v2${path}`),
    '-H',
    '"Authorization: Bearer $FLOTILLA_TOKEN"',
  ];
  if (body !== undefined) parts.push('-H', quote('Content-Type: application/json'), '-d', quote(JSON.stringify(body)));
  return parts.join(' ');
}

/** A request as `flotilla api`, or the command that does the same. */
export function flotillaOf({ method, path, body }: RequestToCopy, command?: readonly string[]): string {
  const own = ['api', method, path, ...(body === undefined ? [] : ['--data', JSON.stringify(body)])];
  return ['flotilla', ...(command ?? own).map(quote)].join(' ');
}

/** One argument of a POSIX shell. */
export function quote(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}
