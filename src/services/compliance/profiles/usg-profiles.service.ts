import type { BaseActivity } from '../../activities/activity-views.ts';
import type { Caller } from '../../common/ports.ts';
import { archiveProfile, executeProfile, patchProfile } from './changes.ts';
import { createUsgProfile } from './create.ts';
import type { UsgProfile, UsgProfilePatch, UsgProfileQuery, UsgProfileRequest, UsgProfilesDeps } from './model.ts';
import { listProfiles, readProfile } from './reads.ts';

/** @see docs/api-conventions.md#usg-profiles */
export interface UsgProfilesService {
  /** One page, oldest first. @throws {DomainError} InvalidParameter for an impossible range of pass rates */
  list(caller: Caller, query: UsgProfileQuery): Promise<{ count: number; results: UsgProfile[] }>;
  /** @throws {DomainError} UnknownUsgProfile */
  get(caller: Caller, id: number): Promise<UsgProfile>;
  /**
   * Stores a profile and runs it immediately unless its start date lies ahead.
   * @throws {DomainError} InvalidParameter, IntervalTooShort, UnknownAccessGroup (400), Forbidden when the caller may
   * not manage profiles in that group
   */
  create(caller: Caller, request: UsgProfileRequest): Promise<UsgProfile>;
  /** @throws {DomainError} UnknownUsgProfile, Forbidden, ProfileArchived, InvalidParameter, IntervalTooShort */
  patch(caller: Caller, id: number, patch: UsgProfilePatch): Promise<UsgProfile>;
  /** Permanent and idempotent; an open run continues. @throws {DomainError} UnknownUsgProfile, Forbidden */
  archive(caller: Caller, id: number): Promise<UsgProfile>;
  /**
   * @throws {DomainError} UnknownUsgProfile, Forbidden, ProfileArchived; ActivityInProgress if all computers are busy
   */
  execute(
    caller: Caller,
    id: number,
    order: { after: number | null; traceparent: string | null },
  ): Promise<BaseActivity>;
}

export function createUsgProfilesService(deps: UsgProfilesDeps): UsgProfilesService {
  return {
    list: (caller, query) => listProfiles(deps, caller, query),
    get: (caller, id) => readProfile(deps, caller, id),
    create: (caller, request) => createUsgProfile(deps, caller, request),
    patch: (caller, id, patch) => patchProfile(deps, caller, id, patch),
    archive: (caller, id) => archiveProfile(deps, caller, id),
    execute: (caller, id, order) => executeProfile(deps, caller, id, order),
  };
}
