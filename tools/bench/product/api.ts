import { ADMIN, type Stack } from './stack.ts';

/** The product's REST API as an administrator uses it. */
export interface Api {
  readonly token: string;
  readonly account: string;
  /** @throws when the response is not 2xx */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** Ids of all computers of the account, page by page. */
  computerIds(): Promise<number[]>;
}

export const API_PREFIX = '/api/v2';

const PAGE = 1000;

/** Logs in; by default as the first administrator. */
export async function logIn(stack: Stack, person: { email: string; password: string } = ADMIN): Promise<Api> {
  const base = `http://127.0.0.1:${stack.port}${API_PREFIX}`;
  const login = await request<{ token: string; current_account: string }>(base, null, 'POST', '/login', {
    email: person.email,
    password: person.password,
  });
  const call = <T>(method: string, path: string, body?: unknown) => request<T>(base, login.token, method, path, body);
  return {
    token: login.token,
    account: login.current_account,
    call,
    async computerIds() {
      const ids: number[] = [];
      for (let offset = 0; ; offset += PAGE) {
        const page = await call<{ count: number; results: Array<{ id: number }> }>(
          'GET',
          `/computers?root_only=false&limit=${PAGE}&offset=${offset}`,
        );
        ids.push(...page.results.map((computer) => computer.id));
        if (offset + PAGE >= page.count) return ids;
      }
    },
  };
}

async function request<T>(
  base: string,
  token: string | null,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const response = await fetch(base + path, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as T;
}
