import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ACTIONS, actionsFor, findAction, GROUPS, needsConfirmation } from '../../../web/src/acting/actions.ts';

const ids = (actions: ReadonlyArray<{ id: string }>) => actions.map(({ id }) => id);

describe('the table of actions', () => {
  it('has each id once, and a form for each', () => {
    expect(new Set(ids(ACTIONS)).size).toBe(ACTIONS.length);
    const forms = readFileSync(new URL('../../../web/src/acting/forms/index.tsx', import.meta.url), 'utf8');
    const registered = [...forms.matchAll(/\['([a-z-]+)', register/g)].map(([, id]) => id);
    expect(registered.toSorted()).toEqual(ids(ACTIONS).toSorted());
  });

  it('shows every group', () => {
    expect([...new Set(ACTIONS.map(({ group }) => group))].toSorted()).toEqual(GROUPS.toSorted());
  });

  it('offers what fits the number of computers', () => {
    expect(actionsFor(0, () => true)).toEqual([]);
    expect(ids(actionsFor(1, () => true))).toEqual(ids(ACTIONS));
    const forMany = ids(actionsFor(2, () => true));
    expect(ids(ACTIONS).filter((id) => !forMany.includes(id))).toEqual([
      'terminate-processes',
      'kill-processes',
      'generate-recovery-key',
    ]);
  });

  it('offers only what the person may do', () => {
    expect(ids(actionsFor(1, (name) => name === 'ExecuteScript'))).toEqual(['run-script']);
    const withoutSecrets = ids(actionsFor(1, (name) => name === 'ManageComputer'));
    expect(withoutSecrets).not.toContain('generate-recovery-key');
    expect(withoutSecrets).toContain('install-snaps');
    expect(actionsFor(1, (name) => name === 'ViewComputer')).toEqual([]);
  });

  it('has what is final confirmed by typing, and what is done to many', () => {
    const confirmed = (count: number) => ids(ACTIONS.filter((action) => needsConfirmation(action, count)));
    expect(confirmed(1)).toEqual(['sanitize', 'archive', 'delete']);
    expect(confirmed(2)).toEqual(['restart', 'shutdown', 'sanitize', 'archive', 'delete']);
  });

  it('finds an action by its id', () => {
    expect(findAction('restart')?.verb).toBe('Restart');
    expect(findAction('constructor')).toBeUndefined();
  });
});
