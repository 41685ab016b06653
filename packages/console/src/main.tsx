import '@fontsource-variable/inter/wght.css'
import './mantine.css'
import '@mantine/notifications/styles.css'
import './console.css'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { prefix } from './place.ts'
import { loadScreenOf } from './screens.ts'

// Shown at once with its screen, it is drawn once and not twice.
const page = window.location.pathname.slice(prefix.length)
await loadScreenOf(page)
const root = document.getElementById('console')
if (root) createRoot(root).render(<App />)
