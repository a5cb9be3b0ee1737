/** An existing test, by its file and a part of its title. */
export interface TestReference {
  file: string;
  title: string;
}

/** A row of the fault matrix: its subject and its tests besides `test/faults/rows`. */
export interface MatrixRow {
  row: number;
  fault: string;
  elsewhere: readonly TestReference[];
}

const at = (file: string, title: string): TestReference => ({ file, title });
const FAULTS_E2E = 'test/e2e/stack/faults.test.ts';

/** The whole fault matrix. @see docs/reliability.md#the-fault-matrix */
export const MATRIX: readonly MatrixRow[] = [
  {
    row: 1,
    fault: 'API killed before its commit',
    elsewhere: [at(FAULTS_E2E, 'makes nothing or all of an action when the API dies at its POST')],
  },
  { row: 2, fault: 'API killed between commit and response', elsewhere: [] },
  { row: 3, fault: 'killed between start and outbox', elsewhere: [] },
  {
    row: 4,
    fault: 'Temporal down',
    elsewhere: [at(FAULTS_E2E, 'accepts an action while Temporal hangs, reports it in /readyz')],
  },
  { row: 5, fault: 'worker killed while it queues messages', elsewhere: [] },
  {
    row: 6,
    fault: 'worker killed at every boundary',
    elsewhere: [at('test/persistence/engine/engine.test.ts', 'between any two statements changes nothing')],
  },
  { row: 7, fault: 'event loop blocked', elsewhere: [] },
  { row: 8, fault: 'Temporal killed', elsewhere: [at(FAULTS_E2E, 'kill -9 of %s')] },
  {
    row: 9,
    fault: 'PostgreSQL killed',
    elsewhere: [at(FAULTS_E2E, 'returns 503 while PostgreSQL hangs')],
  },
  {
    row: 10,
    fault: 'everything killed at once',
    elsewhere: [at('test/e2e/stack/crash-loop.test.ts', 'one outcome per computer')],
  },
  {
    row: 11,
    fault: 'database restored to an older backup',
    elsewhere: [
      at('test/workflows/engine/restore.test.ts', 'sends nothing again that a computer may have received'),
      at('test/workflows/engine/restore.test.ts', 'repairs once, and a database that lost nothing never'),
    ],
  },
  {
    row: 12,
    fault: 'disk full, read-only',
    elsewhere: [
      at('test/api/http/database-unavailable.test.ts', 'responds with 503 and Retry-After, is alive but not ready'),
    ],
  },
  {
    row: 13,
    fault: 'pool exhausted, timeouts, deadlocks, serialization failures',
    elsewhere: [at('test/persistence/database/lost-races.test.ts', 'are all done after a deadlock, each once')],
  },
  {
    row: 14,
    fault: 'response to a result lost',
    elsewhere: [at(FAULTS_E2E, 'when responses are lost, sends doubled')],
  },
  { row: 15, fault: 'result late', elsewhere: [at(FAULTS_E2E, 'what ran keeps its result')] },
  { row: 16, fault: 'agent dies before it acts', elsewhere: [at(FAULTS_E2E, 'agents die before it')] },
  { row: 17, fault: 'agent dies after it acted', elsewhere: [at(FAULTS_E2E, 'agents die right after the work')] },
  {
    row: 18,
    fault: 'two polls at once, clones',
    elsewhere: [
      at('test/gateway/enrolment/counters.test.ts', 'runs concurrent exchanges of one computer one after another'),
      at('test/gateway/enrolment/registration.test.ts', 'flags a copy by its former identity and by its machine id'),
    ],
  },
  {
    row: 19,
    fault: 'exchanges doubled, reordered, truncated',
    elsewhere: [at('test/e2e/agents/channel.test.ts', 'everything comes to one end')],
  },
  { row: 20, fault: 'cancel or removal racing delivery', elsewhere: [] },
  { row: 21, fault: 'reapply or revert in parallel', elsewhere: [] },
  {
    row: 22,
    fault: 'wrong clocks',
    elsewhere: [
      at('test/unit/workers/dispatcher/dispatcher-clock.test.ts', 'although the clock was set back by an hour'),
      at('test/persistence/engine/time-limits.test.ts', 'by the clock that decides, however slow the other is'),
    ],
  },
  {
    row: 23,
    fault: 'schedule storm, slots missed',
    elsewhere: [
      at(
        'test/workflows/schedules/script-schedules.test.ts',
        'leaves one run when it was unavailable over several dates',
      ),
      at(
        'test/persistence/compliance/usg-storm.test.ts',
        'run once when two schedulers and the schedules themselves start them',
      ),
    ],
  },
  {
    row: 24,
    fault: 'poison input, undecodable payload, changed code',
    elsewhere: [
      at('test/workflows/engine/stuck.test.ts', 'is reported and left as it is when no key decrypts its input'),
      at('test/replay/replay.test.ts', 'rejects workflow code that does something else'),
    ],
  },
  {
    row: 25,
    fault: 'limits of a history',
    elsewhere: [
      at(
        'test/workflows/engine/large-batch.workflow.test.ts',
        'continues as new when its history is long, and loses nothing',
      ),
    ],
  },
  {
    row: 26,
    fault: 'codec keys rotated, missing, wrong',
    elsewhere: [
      at('test/unit/temporal/payload-codec.test.ts', 'rejects a key that is not there, a wrong key'),
      at('test/unit/services/common/secret-box.test.ts', 'also after the keys were rotated'),
    ],
  },
  {
    row: 27,
    fault: 'mixed versions',
    elsewhere: [
      at('test/released/released.test.ts', 'lets processes of each release go on beside the migrations after it'),
      at('test/temporal/deployment.test.ts', 'a waiting workflow continues on the next'),
    ],
  },
  {
    row: 28,
    fault: 'log disk full, reader of the log stopped',
    elsewhere: [
      at('test/faults/log-sink.test.ts', 'on a full disk leaves requests served'),
      at('test/faults/log-sink.test.ts', 'whose reader has stopped leaves requests served'),
    ],
  },
  { row: 29, fault: 'SIGTERM under load', elsewhere: [at(FAULTS_E2E, 'stops in order on SIGTERM in the middle')] },
  {
    row: 30,
    fault: 'PAM or mail hangs',
    elsewhere: [
      at('test/api/identity/identity-login.test.ts', 'returns 503 within its time limit when PAM hangs'),
      at('test/api/identity/person.test.ts', 'returns 502 within seconds when the mail server hangs'),
    ],
  },
];
