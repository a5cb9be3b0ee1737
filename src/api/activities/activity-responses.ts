import type { PackageChange } from '../../domain/software/package-changes.ts';
import type {
  BaseActivity,
  ChildActivity,
  DetailedActivity,
  ParentActivity,
} from '../../services/activities/displayed-activities.ts';
import { formatTime } from '../common/time.ts';

/** Fields that all activities have in responses. */
export function toActivityResponse(activity: BaseActivity) {
  return {
    id: activity.id,
    type: activity.type,
    summary: activity.summary,
    creation_time: formatTime(activity.creation_time),
    creator: toCreatorResponse(activity),
    approval_time: formatTime(activity.approval_time),
    completion_time: formatTime(activity.completion_time),
    deliver_delay_window: activity.deliver_delay_window,
    parent_id: activity.parent_id,
    result_text: activity.result_text,
    result_code: activity.result_code,
    activity_status: activity.status,
  };
}

function toCreatorResponse({ creator_id: id, creator_name: name, creator_email: email }: BaseActivity) {
  return id === null ? null : { id, name: name!, email: email! };
}

function toChangeResponse(change: PackageChange) {
  if (!('version' in change)) return change;
  const { type, version } = change;
  return {
    ...change,
    install_version: type === 'install' ? version : null,
    remove_version: type === 'remove' ? version : null,
  };
}

export function toParentResponse(activity: ParentActivity) {
  return {
    ...toActivityResponse(activity),
    children_count: activity.children_count,
    children_statuses: {
      good: activity.succeeded_count,
      warning: activity.open_count,
      bad: activity.failed_count + activity.canceled_count,
    },
    computer_count: activity.computer_count,
    computer: activity.computer,
    cancel_requested: activity.cancel_requested,
  };
}

function toChildResponse(activity: ChildActivity) {
  return {
    ...toActivityResponse(activity),
    computer_id: activity.computer_id,
    computer_title: activity.computer_title,
    cancel_requested: activity.cancel_requested,
  };
}

export function toDetailedActivityResponse(activity: DetailedActivity) {
  return {
    ...toActivityResponse(activity),
    ...(activity.computer_id === null ? {} : { computer_id: activity.computer_id }),
    delivery_time: formatTime(activity.delivery_time),
    deliver_after_time: formatTime(activity.deliver_after_time),
    deliver_before_time: formatTime(activity.deliver_before_time),
    schedule_before_time: formatTime(activity.schedule_before_time),
    schedule_after_time: formatTime(activity.schedule_after_time),
    modification_time: formatTime(activity.modification_time),
    package_ids: activity.package_ids,
    changes: activity.changes.map(toChangeResponse),
    cancel_requested: activity.cancel_requested,
    children: activity.children.map(toChildResponse),
    actions: activity.actions,
    reapplied_from: activity.reapplied_from,
    reapplied_by: activity.reapplied_by,
    reverts: activity.reverts,
    reverted_by: activity.reverted_by,
    ...(activity.after_activity_id === null ? {} : { after: activity.after_activity_id }),
    ...(activity.not_reverted === null ? {} : { not_reverted: activity.not_reverted }),
    ...(activity.progress === null ? {} : { progress: activity.progress }),
  };
}
