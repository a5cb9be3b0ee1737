import type { PackageChange } from '../../domain/software/package-changes.ts';
import type {
  BaseActivity,
  ChildActivity,
  DetailedActivity,
  ParentActivity,
} from '../../services/activities/activity-views.ts';
import { wireTime } from '../common/time.wire.ts';

/** The shape every answer about an activity starts with. */
export function wireActivity(activity: BaseActivity) {
  return {
    id: activity.id,
    type: activity.type,
    summary: activity.summary,
    creation_time: wireTime(activity.creation_time),
    creator: wireCreator(activity),
    approval_time: wireTime(activity.approval_time),
    completion_time: wireTime(activity.completion_time),
    deliver_delay_window: activity.deliver_delay_window,
    parent_id: activity.parent_id,
    result_text: activity.result_text,
    result_code: activity.result_code,
    activity_status: activity.status,
  };
}

function wireCreator({ creator_id: id, creator_name: name, creator_email: email }: BaseActivity) {
  return id === null ? null : { id, name: name!, email: email! };
}

/** An entry of `changes`, which names both versions: null for one that there was not. */
function wireChange(change: PackageChange) {
  if (!('version' in change)) return change;
  const { type, version } = change;
  return {
    ...change,
    install_version: type === 'install' ? version : null,
    remove_version: type === 'remove' ? version : null,
  };
}

/** An item of the listing of parents. */
export function wireParent(activity: ParentActivity) {
  return {
    ...wireActivity(activity),
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

/** An operation as its group shows it. */
function wireChild(activity: ChildActivity) {
  return {
    ...wireActivity(activity),
    computer_id: activity.computer_id,
    computer_title: activity.computer_title,
    cancel_requested: activity.cancel_requested,
  };
}

/** One activity in detail. */
export function wireDetailedActivity(activity: DetailedActivity) {
  return {
    ...wireActivity(activity),
    ...(activity.computer_id === null ? {} : { computer_id: activity.computer_id }),
    delivery_time: wireTime(activity.delivery_time),
    deliver_after_time: wireTime(activity.deliver_after_time),
    deliver_before_time: wireTime(activity.deliver_before_time),
    schedule_before_time: wireTime(activity.schedule_before_time),
    schedule_after_time: wireTime(activity.schedule_after_time),
    modification_time: wireTime(activity.modification_time),
    package_ids: activity.package_ids,
    changes: activity.changes.map(wireChange),
    cancel_requested: activity.cancel_requested,
    children: activity.children.map(wireChild),
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
