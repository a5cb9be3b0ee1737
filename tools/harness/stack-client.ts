import { setTimeout as sleep } from 'node:timers/promises';

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

/** The response has an unexpected status. */
export class UnexpectedResponse extends Error {
  readonly status: number;

  constructor(method: string, path: string, status: number, text: string) {
    super(`${method} ${path} returned ${status}: ${text.slice(0, 500)}`);
    this.name = 'UnexpectedResponse';
    this.status = status;
  }
}

/** A client of the REST API like an administrator's script: one token, plain JSON. */
export class ApiClient {
  readonly #base: string;
  #token: string | null;

  /** @param url - of the stack, without `/api/v2` */
  constructor(url: string, token: string | null = null) {
    this.#base = `${url}/api/v2`;
    this.#token = token;
  }

  get token(): string {
    if (this.#token === null) throw new Error('log in first');
    return this.#token;
  }

  async login(email: string, password: string): Promise<void> {
    const { token } = await this.post<{ token: string }>('/login', { email, password });
    this.#token = token;
  }

  /** @throws {UnexpectedResponse} unless 200 */
  async get<T>(path: string): Promise<T> {
    return this.#expect<T>('GET', path);
  }

  /** @throws {UnexpectedResponse} unless 200 or 201 */
  async post<T>(path: string, body: unknown): Promise<T> {
    return this.#expect<T>('POST', path, body);
  }

  /** Sends one request and returns any response. @throws when the connection breaks, or without a response for 20 s */
  async request<T = unknown>(method: string, path: string, body?: unknown): Promise<ApiResponse<T>> {
    const response = await fetch(`${this.#base}${path}`, {
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
    for (;;) {
      const page = await this.get<Page<{ id: number }>>(`/computers?root_only=false&limit=1000&offset=${ids.length}`);
      ids.push(...page.results.map((computer) => computer.id));
      if (page.next === null || page.results.length === 0) return ids;
    }
  }

  /** Polls until the activity is in a final state. Tolerates broken connections and 5xx, for use across faults. */
  async pollActivity(id: number, limitMs: number): Promise<ActivityBody> {
    const end = performance.now() + limitMs;
    for (let last = 'no response'; ; ) {
      try {
        const activity = await this.activity(id);
        if (['succeeded', 'failed', 'canceled'].includes(activity.activity_status)) return activity;
        last = activity.activity_status;
      } catch (error) {
        if (error instanceof UnexpectedResponse && error.status < 500) throw error;
        last = String(error);
      }
      if (performance.now() > end) throw new Error(`activity ${id} is not final after ${limitMs / 1000} s: ${last}`);
      await sleep(250);
    }
  }

  async #expect<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.request<T>(method, path, body);
    if (response.status !== 200 && response.status !== 201) {
      throw new UnexpectedResponse(method, path, response.status, response.text);
    }
    return response.body;
  }
}
