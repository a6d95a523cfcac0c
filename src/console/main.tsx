import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueries } from './run/queries/use-service.ts';
import { Boundary, isMoved } from './screen/frame/boundary.tsx';
import { Gate } from './screen/frame/gate.tsx';
import './styles/index.css';
import { TextProvider } from './text/use-text.tsx';
import { AnnounceProvider } from './ui/announce.tsx';
import { leaveCompositionsAlone, pressOnceWhileHeld } from './ui/keys.ts';

leaveCompositionsAlone();
pressOnceWhileHeld();
const root = document.getElementById('root');
if (root) {
  // What is drawn anew is no fault to be told.
  const onCaughtError = (error: unknown) => isMoved(error) || console.error(error);
  createRoot(root, { onCaughtError }).render(
    <StrictMode>
      <TextProvider>
        <Boundary>
          <QueryClientProvider client={createQueries()}>
            <AnnounceProvider>
              <Gate />
            </AnnounceProvider>
          </QueryClientProvider>
        </Boundary>
      </TextProvider>
    </StrictMode>,
  );
}
