import type { ScriptProfileLimits } from '../../../process/config.ts';
import type { PageRequest } from '../../../persistence/database/page.ts';
import type { ParentActivity } from '../../activities/activity-views.ts';
import type { Caller } from '../../common/ports.ts';
import { archiveProfile, createProfile, patchProfile } from './changes.ts';
import type {
  ScriptProfile,
  ScriptProfilePatch,
  ScriptProfileQuery,
  ScriptProfileRequest,
  ScriptProfilesDeps,
} from './model.ts';
import { listActivities, listProfiles, listProfilesOfScript, readProfile, requireProfile } from './reads.ts';

/** @see docs/api-conventions.md#script-profiles */
export interface ScriptProfilesService {
  readonly limits: ScriptProfileLimits;
  /** One page, newest first. */
  list(caller: Caller, query: ScriptProfileQuery): Promise<{ count: number; results: ScriptProfile[] }>;
  /** One page of a script's profiles, including archived ones, newest first. @throws {DomainError} UnknownScript */
  listOfScript(
    caller: Caller,
    scriptId: number,
    page: PageRequest,
  ): Promise<{ count: number; results: ScriptProfile[] }>;
  /** @throws {DomainError} UnknownScriptProfile */
  get(caller: Caller, id: number): Promise<ScriptProfile>;
  /**
   * @throws {DomainError} InvalidParameter, IntervalTooShort, UnknownScript, ScriptArchived, Forbidden when the caller
   * may not manage profiles or run scripts in the script's group, ProfileLimitReached, DuplicateScriptProfile
   */
  create(caller: Caller, request: ScriptProfileRequest): Promise<ScriptProfile>;
  /**
   * Changes a profile, including the type of its trigger.
   * @throws {DomainError} UnknownScriptProfile, Forbidden, ProfileArchived, InvalidParameter, IntervalTooShort,
   * DuplicateScriptProfile
   */
  patch(caller: Caller, id: number, patch: ScriptProfilePatch): Promise<ScriptProfile>;
  /** Permanent and idempotent; an open run continues. @throws {DomainError} UnknownScriptProfile, Forbidden */
  archive(caller: Caller, id: number): Promise<void>;
  /** One page of its runs, newest first. @throws {DomainError} UnknownScriptProfile */
  activities(caller: Caller, id: number, page: PageRequest): Promise<{ count: number; results: ParentActivity[] }>;
  /** @returns the query for the computers of a profile. @throws {DomainError} UnknownScriptProfile */
  computersQuery(caller: Caller, id: number): Promise<string>;
}

export function createScriptProfilesService(deps: ScriptProfilesDeps): ScriptProfilesService {
  return {
    limits: deps.limits,
    list: (caller, query) => listProfiles(deps, caller, query),
    listOfScript: (caller, scriptId, page) => listProfilesOfScript(deps, caller, scriptId, page),
    get: (caller, id) => readProfile(deps, caller, id),
    create: (caller, request) => createProfile(deps, caller, request),
    patch: (caller, id, patch) => patchProfile(deps, caller, id, patch),
    archive: (caller, id) => archiveProfile(deps, caller, id),
    activities: (caller, id, page) => listActivities(deps, caller, id, page),
    async computersQuery(caller, id) {
      await requireProfile(deps.db, caller, id);
      return `profile:script:${id}`;
    },
  };
}
