import { useState } from 'react';
import { Button } from './button.tsx';
import { copyText } from './clipboard.ts';
import { curlOf, flotillaOf, type RequestToCopy } from './shell-text.ts';

interface CopyAsProps {
  /** One request, or several that follow each other. */
  request: RequestToCopy | readonly RequestToCopy[];
  /** Arguments of a `flotilla` command that does the same; `flotilla api` with the request otherwise. */
  command?: readonly string[];
}

/** Buttons that copy what a form does, for a shell: as a `flotilla` command and as curl. */
export function CopyAs({ request, command }: CopyAsProps) {
  const [copied, setCopied] = useState('');
  const requests = 'path' in request ? [request] : request;
  const copy = async (name: string, text: string) => {
    try {
      await copyText(text);
      setCopied(`Copied as ${name}`);
    } catch {
      setCopied('The browser does not allow copying');
    }
  };
  return (
    <span className="copy-as">
      <Button kind="quiet" onClick={() => void copy('flotilla command', flotillaOf(requests, command))}>
        Copy as flotilla command
      </Button>
      <Button kind="quiet" onClick={() => void copy('curl', curlOf(requests, window.location.origin))}>
        Copy as curl
      </Button>
      <span role="status" className="quiet">
        {copied}
      </span>
    </span>
  );
}
