import type { ApiResponse } from '../../harness/stack-client.ts';
import type { Random } from '../../simulator/random.ts';
import type { Acknowledged } from '../invariants/facts.ts';
import type { Computers } from '../world/fleets.ts';
import type { FaultWorld, Party } from '../world/world.ts';

/** Requests and responses of one seed; its actions add to it and choose from it. */
export class Session {
  readonly world: FaultWorld;
  readonly seed: number;
  readonly acknowledged: Acknowledged[] = [];
  /** Accepted groups of the main account. */
  readonly groups: number[] = [];
  /** Those that waited for approval when they were created. */
  readonly unapproved: number[] = [];
  readonly newcomers: Computers[] = [];
  readonly removed = new Set<number>();
  /** Computers whose identity two machines had. */
  readonly cloned = new Set<number>();
  /** Groups and operations for which a cancel was requested, whatever the response. */
  readonly cancelTried = new Set<number>();
  readonly intrusions: string[] = [];
  readonly mayRepeat = new Set<number>();
  /** Number of responses by status; 0 is a rejected or broken connection. */
  readonly responses = new Map<number, number>();
  /** Responses that no fault explains. */
  readonly wrongResponses: string[] = [];

  constructor(world: FaultWorld, seed: number) {
    this.world = world;
    this.seed = seed;
  }

  /** One request without retries. @returns null without a 2xx response: its effect is unknown then */
  async request<T>(party: Party, method: string, path: string, body?: unknown): Promise<ApiResponse<T> | null> {
    let response: ApiResponse<T>;
    try {
      response = await party.api.request<T>(method, path, body);
    } catch {
      this.#count(0);
      return null;
    }
    this.#count(response.status);
    // A failing server means 503; another 5xx is a defect.
    if (response.status >= 500 && response.status !== 503) {
      this.wrongResponses.push(`${method} ${path} returned ${response.status}: ${response.text.slice(0, 300)}`);
    }
    return response.status >= 200 && response.status < 300 ? response : null;
  }

  /** Requests an action and records the response. @param computers - null when the server chooses them */
  async act(party: Party, path: string, body: unknown, computers: readonly number[] | null): Promise<number | null> {
    const made = await this.request<{ id: number }>(party, 'POST', path, body);
    if (made === null) return null;
    this.accepted(party, made.body.id, computers);
    return made.body.id;
  }

  accepted(party: Party, id: number, computers: readonly number[] | null): void {
    this.acknowledged.push({ what: 'group', account: party.id, id, computers });
    if (party.id === this.world.main.id) this.groups.push(id);
  }

  /** Some computers of the main account that take snaps: one, a few, many or all. */
  someComputers(random: Random): number[] {
    const all = this.world.main.computers.takingSnaps();
    const size = random.pick([1, random.int(2, 8), random.int(9, 24), all.length]);
    return random.sample(all, Math.min(size, all.length));
  }

  #count(status: number): void {
    this.responses.set(status, (this.responses.get(status) ?? 0) + 1);
  }
}
