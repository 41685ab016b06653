import { testEchoes } from './echoes/echo.ts'

/** What is stored: files, databases, data warehouses. */
testEchoes('files', 'databases')
