import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Time } from '../../ui/time.tsx';
import { AcceptDialog } from './accept-dialog.tsx';
import { ComputerName } from './computer-name.tsx';
import { LineList } from './line-list.tsx';
import { type PendingComputer, pendingQuery } from './pending.ts';
import { RejectDialog } from './reject-dialog.tsx';

const SHOWN = 8;

type Decision = { verb: 'accept' | 'reject'; computers: readonly PendingComputer[] };

/** Computers that wait to be accepted, one by one or all together. */
export function PendingLines() {
  const { data, error } = useQuery(pendingQuery);
  const [isOpen, setOpen] = useState(false);
  const [decision, setDecision] = useState<Decision | null>(null);
  const close = () => setDecision(null);
  const computers = data?.results ?? [];
  const decide = (verb: Decision['verb'], chosen: readonly PendingComputer[]) =>
    setDecision({ verb, computers: chosen });
  return (
    <>
      <LineList
        title="Computers to accept"
        items={data && (isOpen ? computers : computers.slice(0, SHOWN))}
        count={data?.count}
        error={error}
        actions={
          <span className="button-row">
            {computers.length > SHOWN && (
              <Button kind="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
                {isOpen ? 'Show fewer' : 'Show all'}
              </Button>
            )}
            {computers.length > 1 && (
              <>
                <Button onClick={() => decide('accept', computers)}>Accept {computers.length.toLocaleString()}</Button>
                <Button onClick={() => decide('reject', computers)}>Reject {computers.length.toLocaleString()}</Button>
              </>
            )}
          </span>
        }
      >
        {(computer) => <PendingLine computer={computer} onDecide={(verb) => decide(verb, [computer])} />}
      </LineList>
      {decision?.verb === 'accept' && <AcceptDialog computers={decision.computers} onClose={close} />}
      {decision?.verb === 'reject' && <RejectDialog computers={decision.computers} onClose={close} />}
    </>
  );
}

function PendingLine({
  computer,
  onDecide,
}: {
  computer: PendingComputer;
  onDecide: (verb: Decision['verb']) => void;
}) {
  const { title, hostname, creation_time } = computer;
  return (
    <>
      <span className="line-text" title={`${title} (${hostname})`}>
        <ComputerName computer={computer} />
      </span>
      <Time value={creation_time} format="relative" />
      <Button kind="quiet" aria-label={`Accept ${title}`} onClick={() => onDecide('accept')}>
        Accept
      </Button>
      <Button kind="quiet" aria-label={`Reject ${title}`} onClick={() => onDecide('reject')}>
        Reject
      </Button>
    </>
  );
}
