import type { CloudEvent } from '@flotilla/client';
import type { QueryKey } from '@tanstack/react-query';

/** What is known by its entry in the event log alone, by its type there. */
const LOGGED: Readonly<Record<string, QueryKey[]>> = {
  Script: [['scripts']],
  ScriptProfile: [['profiles'], ['profile', 'script']],
  UsgProfile: [['profiles'], ['profile', 'usg']],
};

/** The keys of the queries whose results an event may have changed. */
export function keysOf(event: CloudEvent): QueryKey[] {
  switch (event.type) {
    case 'activity.created':
    case 'activity.approved':
    case 'activity.started':
    case 'activity.ended':
      return [['activities'], ['activity', event.data.activity_id]];
    case 'operation.delivered':
    case 'operation.ended':
      return [
        ['activities'],
        ['activity', event.data.activity_id],
        ['activity', event.data.operation_id],
        ['computer', event.data.computer_id],
      ];
    case 'computer.enrolled':
    case 'computer.removed':
    case 'computer.changed':
      return [['computers'], ['pending-computers'], ['computer', event.data.computer_id]];
    case 'alert.raised':
    case 'alert.resolved':
      return [['alerts'], ['pending-computers'], ['computers'], ['computer', event.data.computer_id]];
    case 'profile.run':
      return [['profiles'], ['profile', event.data.profile_type, event.data.profile_id]];
    case 'permissions.changed':
      return [['people'], ['me']];
    case 'log.recorded':
      return [['events'], ...(LOGGED[event.data.entity_type] ?? [])];
  }
}
