import { archiveProfile, createProfile, patchProfile, previewChangedDates, previewDates } from './changes.ts';
import type { ScriptProfilesDeps } from './model.ts';
import {
  listActivities,
  listDates,
  listProfiles,
  listProfilesOfScript,
  readComputersQuery,
  readProfile,
  readTaggedProfile,
} from './reads.ts';

export type ScriptProfilesService = ReturnType<typeof createScriptProfilesService>;

/** @see docs/api-conventions.md#script-profiles */
export function createScriptProfilesService(deps: ScriptProfilesDeps) {
  return {
    limits: deps.limits,
    list: listProfiles.bind(null, deps),
    listOfScript: listProfilesOfScript.bind(null, deps),
    get: readProfile.bind(null, deps),
    read: readTaggedProfile.bind(null, deps),
    create: createProfile.bind(null, deps),
    patch: patchProfile.bind(null, deps),
    archive: archiveProfile.bind(null, deps),
    activities: listActivities.bind(null, deps),
    dates: listDates.bind(null, deps),
    previewDates: previewDates.bind(null, deps),
    previewChangedDates: previewChangedDates.bind(null, deps),
    computersQuery: readComputersQuery.bind(null, deps),
  };
}
