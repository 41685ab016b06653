import '@fontsource-variable/inter/wght.css'
import './mantine.css'
import './console.css'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { loadWhatIsPointedAt, prepareScreen } from './screens.ts'

/** How long nothing is drawn while the service reads, in milliseconds: after that, skeletons say that something comes. */
const waitMs = 200

// Where its screen is there, and what that shows, the page is drawn once and not three times.
await prepareScreen(new URL(window.location.href), waitMs)
const root = document.getElementById('console')
if (root) createRoot(root).render(<App />)
loadWhatIsPointedAt()
