import type { ActivityLine } from '../../services/activities/activity-story.service.ts';
import { formatTime } from '../common/time.ts';
import type { Handlers, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function activityStoryHandlers({ activityStory }: Services) {
  return {
    listActivityComputers: async (context) => {
      const { status = null, computer = null, result = null, failure = null } = context.query;
      const filter = { status, computer, result, failure };
      const id = context.params.activity_id;
      return envelope(
        context,
        await activityStory.listComputers(context.caller, id, filter, pageOf(context)),
        toLineResponse,
      );
    },
    listActivityFailures: async (context) => {
      const page = await activityStory.listFailures(context.caller, context.params.activity_id, pageOf(context));
      return envelope(context, page, (failure) => failure);
    },
    getActivityTimeline: async ({ caller, params, query }) => {
      const points = await activityStory.readTimeline(caller, params.activity_id, query.points!);
      return points.map((point) => ({ ...point, time: formatTime(point.time) }));
    },
  } satisfies Handlers;
}

function toLineResponse(line: ActivityLine) {
  return {
    id: line.id,
    type: line.type,
    summary: line.summary,
    computer_id: line.computer_id,
    computer_title: line.computer_title,
    activity_status: line.status,
    waits_for: line.waits_for,
    offline_since: formatTime(line.offline_since),
    creation_time: formatTime(line.creation_time),
    approval_time: formatTime(line.approval_time),
    due_time: formatTime(line.deliver_at),
    delivery_time: formatTime(line.delivery_time),
    completion_time: formatTime(line.completion_time),
    result_code: line.result_code,
    result_text: line.result_text,
    cancel_requested: line.cancel_requested,
    after: line.after_activity_id,
    step_after: line.blocked_by,
  };
}
