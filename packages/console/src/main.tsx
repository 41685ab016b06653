import '@fontsource-variable/inter/wght.css'
import './mantine.css'
import '@mantine/notifications/styles.css'
import './console.css'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'

const root = document.getElementById('console')
if (root) createRoot(root).render(<App />)
