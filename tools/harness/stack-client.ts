import { createClient, type FlotillaClient } from '@flotilla/client';

/** The keys of an activity that tests check. */
export interface ActivityBody {
  id: number;
  type: string;
  activity_status: string;
  summary: string;
  parent_id: number | null;
  computer_id: number | null;
  result_text: string | null;
  result_code: number | null;
  children: ActivityBody[];
  children_count?: number;
  children_statuses?: { good: number; warning: number; bad: number };
}

export interface Page<T> {
  count: number;
  results: T[];
  next: string | null;
  previous: string | null;
}

export interface ApiResponse<T> {
  status: number;
  body: T;
  text: string;
}

/** The client library with the calls that tests and the fault driver share; it also gives its token away. */
export class ApiClient {
  readonly #base: string;
  #library: FlotillaClient;
  #token: string | null;

  /** @param url - of the stack, without `/api/v2` */
  constructor(url: string, token: string | null = null) {
    this.#base = url;
    this.#token = token;
    this.#library = createClient({ url, credentials: token === null ? undefined : { token } });
  }

  get token(): string {
    if (this.#token === null) throw new Error('log in first');
    return this.#token;
  }

  /** Also when the token has expired. @throws {ApiError} */
  async login(email: string, password: string): Promise<void> {
    const onSession = ({ token }: { token: string }) => {
      this.#token = token;
    };
    this.#library = createClient({ url: this.#base, credentials: { email, password }, onSession });
    await this.#library.login();
  }

  /** @throws {ApiError} */
  async get<T>(path: string): Promise<T> {
    return (await this.#library.request('GET', path)).data as T;
  }

  /** @throws {ApiError} */
  async post<T>(path: string, body: unknown): Promise<T> {
    return (await this.#library.request('POST', path, { body })).data as T;
  }

  /** Sends one request, once, and returns any response. @throws when the connection breaks, or without a response for 20 s */
  async request<T = unknown>(method: string, path: string, body?: unknown): Promise<ApiResponse<T>> {
    const response = await fetch(`${this.#base}/api/v2${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(this.#token === null ? {} : { authorization: `Bearer ${this.#token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    });
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json') ?? false;
    return { status: response.status, text, body: (json ? JSON.parse(text) : null) as T };
  }

  /** Installs or otherwise acts on snaps. @returns the id of the parent activity */
  async actOnSnaps(computerIds: readonly number[], more: Record<string, unknown> = {}): Promise<number> {
    const body = { action: 'install', computer_ids: computerIds, snaps: [{ name: 'hello' }], ...more };
    return (await this.post<ActivityBody>('/snaps', body)).id;
  }

  async activity(id: number): Promise<ActivityBody> {
    return this.get<ActivityBody>(`/activities/${id}`);
  }

  /** Ids of all computers of the account, in order, including WSL instances. */
  async computerIds(): Promise<number[]> {
    const ids: number[] = [];
    const query = { root_only: false, limit: 1000 };
    for await (const { id } of this.#library.items('/computers', { params: { query } })) ids.push(id);
    return ids;
  }

  /** Polls until the activity is in a final state, also across faults. */
  async pollActivity(id: number, limitMs: number): Promise<ActivityBody> {
    return (await this.#library.waitFor(id, { timeout: limitMs })) as unknown as ActivityBody;
  }
}
