import type { components } from './schema.generated.ts';

/** A token, or what a new one is obtained with whenever the last has expired. */
export type Credentials =
  | { token: string }
  | { email: string; password: string; account?: string }
  | { accessKey: string; secretKey: string };

/** The response to a login. */
export type Session = components['schemas']['LoginResponse'];

/** The login that credentials are for; null for a token. */
export function loginRequest(credentials: Credentials) {
  if ('token' in credentials) return null;
  if ('email' in credentials) return { path: '/login', body: credentials } as const;
  const { accessKey, secretKey } = credentials;
  return { path: '/login/access-key', body: { access_key: accessKey, secret_key: secretKey } } as const;
}

/** Whether a request is for one of the calls that need no token. */
export function isLogin({ url }: Request): boolean {
  return /\/api\/v2\/login(\/|$)/.test(new URL(url).pathname);
}
