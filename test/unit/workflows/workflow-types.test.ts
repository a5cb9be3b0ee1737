import { describe, expect, it } from 'vitest';
import { ACTIVITY_GROUP, ACTIVITY_TYPES } from '../../../src/domain/activities/kinds.ts';
import {
  RELEASED_GROUP_WORKFLOW,
  BATCH_TYPES,
  GROUP_TYPES,
  groupWorkflow,
  REPORT_TYPES,
} from '../../../workflows/contracts/workflow-types.ts';
import * as workflows from '../../../workflows/index.ts';

describe('workflow types', () => {
  it('has one for the groups of every type of operation', () => {
    const types = ACTIVITY_TYPES.filter((type) => type !== ACTIVITY_GROUP).map(groupWorkflow);
    expect(types).not.toContain(RELEASED_GROUP_WORKFLOW);
    expect(groupWorkflow(ACTIVITY_GROUP)).toBe(RELEASED_GROUP_WORKFLOW);
  });

  it.each([...GROUP_TYPES, ...BATCH_TYPES, ...REPORT_TYPES])('registers %s', (type) => {
    expect(workflows).toHaveProperty(type);
  });
});
