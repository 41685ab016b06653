import '@fontsource-variable/inter/wght.css'
import '../mantine.css'
import '../console.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { queryClient } from '../api/queries.ts'
import { theme } from '../theme.ts'
import { ConnectPage } from './connect-page.tsx'

const root = document.getElementById('connect')
if (root) {
  createRoot(root).render(
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <ConnectPage />
      </QueryClientProvider>
    </MantineProvider>,
  )
}
