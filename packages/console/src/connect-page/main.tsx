import '@fontsource-variable/inter/wght.css'
import './mantine.css'
import '../console.css'
import { MantineProvider } from '@mantine/core'
import { createRoot } from 'react-dom/client'
import { theme } from '../theme.ts'
import { ConnectPage } from './connect-page.tsx'

const root = document.getElementById('connect')
if (root) {
  createRoot(root).render(
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <ConnectPage />
    </MantineProvider>,
  )
}
