import { queriesFor, type Target } from '../targets.ts';
import { commandOf, idsOf, namesIn, type Plan, type PlanInput, post, type ActionRequest } from './plan.ts';

export interface TagFields {
  tags: string;
}

export interface AnnotationFields {
  key: string;
  value: string;
}

export interface GroupFields {
  group: string;
}

/** What administrators may set; agents may report other tags, which nobody can add again. */
const TAG = /^[\p{L}\p{Nd}-][\p{L}\p{M}\p{Nd}-]{0,49}$/u;

/** A request for each query that names some of the computers. */
function changeAll(targets: readonly Target[], path: string, body: object): ActionRequest[] {
  return queriesFor(idsOf(targets)).map((query) => post(path, { query, ...body }));
}

/** The targets by what they have in common, in the order in which it first appears. */
function groupBy(targets: readonly Target[], key: (target: Target) => string): Array<[string, Target[]]> {
  return [...Map.groupBy(targets, key)];
}

/** Adds tags; the inverse removes each from the computers that did not have it. */
export function planAddTags({ fields, targets, chosenBy }: PlanInput<TagFields>): Plan {
  const tags = namesIn(fields.tags);
  return {
    requests: changeAll(targets, '/computers:add-tags', { tags }),
    command: commandOf({ name: 'computers tag', args: tags, options: chosenBy }),
    undo: tags.flatMap((tag) =>
      changeAll(
        targets.filter((target) => !target.tags.includes(tag)),
        '/computers:remove-tags',
        { tags: [tag] },
      ),
    ),
  };
}

/** Removes tags; the inverse adds each to the computers that had it. */
export function planRemoveTags({ fields, targets, chosenBy }: PlanInput<TagFields>): Plan {
  const tags = namesIn(fields.tags);
  return {
    requests: changeAll(targets, '/computers:remove-tags', { tags }),
    command: commandOf({ name: 'computers untag', args: tags, options: chosenBy }),
    undo: tags
      .filter((tag) => TAG.test(tag))
      .flatMap((tag) =>
        changeAll(
          targets.filter((target) => target.tags.includes(tag)),
          '/computers:add-tags',
          { tags: [tag] },
        ),
      ),
  };
}

/** Sets an annotation; the inverse sets the former texts, and removes it where there was none. */
export function planAnnotate({ fields, targets, chosenBy }: PlanInput<AnnotationFields>): Plan {
  const key = fields.key.trim();
  const without = targets.filter(({ annotations }) => annotations[key] === undefined);
  return {
    requests: changeAll(targets, '/computers:annotate', { key, value: fields.value }),
    command: commandOf({ name: 'computers annotate', args: [key, fields.value], options: chosenBy }),
    undo: [...changeAll(without, '/computers:remove-annotation', { key }), ...annotateAgain(targets, key)],
  };
}

/** Removes an annotation; the inverse sets the former texts. */
export function planRemoveAnnotation({ fields, targets, chosenBy }: PlanInput<AnnotationFields>): Plan {
  const key = fields.key.trim();
  return {
    requests: changeAll(targets, '/computers:remove-annotation', { key }),
    command: commandOf({ name: 'computers unannotate', args: [key], options: chosenBy }),
    undo: annotateAgain(targets, key),
  };
}

function annotateAgain(targets: readonly Target[], key: string): ActionRequest[] {
  const annotated = targets.filter(({ annotations }) => annotations[key] !== undefined);
  return groupBy(annotated, ({ annotations }) => annotations[key]!).flatMap(([value, some]) =>
    changeAll(some, '/computers:annotate', { key, value }),
  );
}

/** Moves computers; the inverse moves them to where they were. */
export function planMove({ fields, targets, chosenBy }: PlanInput<GroupFields>): Plan {
  const moved = targets.filter(({ accessGroup }) => accessGroup !== fields.group);
  return {
    requests: changeAll(targets, '/computers:change-access-group', { access_group: fields.group }),
    command: commandOf({ name: 'computers move', args: [fields.group], options: chosenBy }),
    undo: groupBy(moved, ({ accessGroup }) => accessGroup).flatMap(([access_group, some]) =>
      changeAll(some, '/computers:change-access-group', { access_group }),
    ),
  };
}
