export interface RequestToCopy {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/api/v2`. */
  path: string;
  body?: unknown;
}

/** Requests as curl, one per line, with the token in `$FLOTILLA_TOKEN`. */
export function curlOf(requests: readonly RequestToCopy[], origin: string): string {
  return requests.map((request) => curlLine(request, origin)).join('\n');
}

function curlLine({ method, path, body }: RequestToCopy, origin: string): string {
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

/** The command that does what the requests do; without one, each as `flotilla api`. */
export function flotillaOf(requests: readonly RequestToCopy[], command?: readonly string[]): string {
  const commands = command ? [command] : requests.map(apiCommand);
  return commands.map((words) => ['flotilla', ...words.map(quote)].join(' ')).join('\n');
}

function apiCommand({ method, path, body }: RequestToCopy): string[] {
  return ['api', method, path, ...(body === undefined ? [] : ['--data', JSON.stringify(body)])];
}

/** One argument of a POSIX shell. */
export function quote(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}
