package dev.minifloat.cuda.driver;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/**
 * The functions of the CUDA driver that there are bindings for, each named by its symbol.
 *
 * <p>A constant costs nothing until {@link #descriptor} is asked: the generated code then links the
 * function, which takes about two milliseconds.
 */
public enum DriverFunction {
  cuGetErrorString(Cuda::cuGetErrorString$descriptor),
  cuGetErrorName(Cuda::cuGetErrorName$descriptor),
  cuInit(Cuda::cuInit$descriptor),
  cuDriverGetVersion(Cuda::cuDriverGetVersion$descriptor),
  cuDeviceGet(Cuda::cuDeviceGet$descriptor),
  cuDeviceGetCount(Cuda::cuDeviceGetCount$descriptor),
  cuDeviceGetName(Cuda::cuDeviceGetName$descriptor),
  cuDeviceGetUuid_v2(Cuda::cuDeviceGetUuid_v2$descriptor),
  cuDeviceTotalMem_v2(Cuda::cuDeviceTotalMem_v2$descriptor),
  cuDeviceGetAttribute(Cuda::cuDeviceGetAttribute$descriptor),
  cuDeviceSetMemPool(Cuda::cuDeviceSetMemPool$descriptor),
  cuDeviceGetMemPool(Cuda::cuDeviceGetMemPool$descriptor),
  cuDeviceGetDefaultMemPool(Cuda::cuDeviceGetDefaultMemPool$descriptor),
  cuDevicePrimaryCtxRetain(Cuda::cuDevicePrimaryCtxRetain$descriptor),
  cuDevicePrimaryCtxRelease_v2(Cuda::cuDevicePrimaryCtxRelease_v2$descriptor),
  cuDevicePrimaryCtxSetFlags_v2(Cuda::cuDevicePrimaryCtxSetFlags_v2$descriptor),
  cuDevicePrimaryCtxGetState(Cuda::cuDevicePrimaryCtxGetState$descriptor),
  cuDevicePrimaryCtxReset_v2(Cuda::cuDevicePrimaryCtxReset_v2$descriptor),
  cuCtxPushCurrent_v2(Cuda::cuCtxPushCurrent_v2$descriptor),
  cuCtxPopCurrent_v2(Cuda::cuCtxPopCurrent_v2$descriptor),
  cuCtxSetCurrent(Cuda::cuCtxSetCurrent$descriptor),
  cuCtxGetCurrent(Cuda::cuCtxGetCurrent$descriptor),
  cuCtxGetDevice(Cuda::cuCtxGetDevice$descriptor),
  cuCtxSynchronize(Cuda::cuCtxSynchronize$descriptor),
  cuCtxSetLimit(Cuda::cuCtxSetLimit$descriptor),
  cuCtxGetLimit(Cuda::cuCtxGetLimit$descriptor),
  cuCtxGetStreamPriorityRange(Cuda::cuCtxGetStreamPriorityRange$descriptor),
  cuModuleLoadData(Cuda::cuModuleLoadData$descriptor),
  cuModuleLoadDataEx(Cuda::cuModuleLoadDataEx$descriptor),
  cuModuleUnload(Cuda::cuModuleUnload$descriptor),
  cuModuleGetLoadingMode(Cuda::cuModuleGetLoadingMode$descriptor),
  cuModuleGetFunction(Cuda::cuModuleGetFunction$descriptor),
  cuModuleGetGlobal_v2(Cuda::cuModuleGetGlobal_v2$descriptor),
  cuLinkCreate_v2(Cuda::cuLinkCreate_v2$descriptor),
  cuLinkAddData_v2(Cuda::cuLinkAddData_v2$descriptor),
  cuLinkComplete(Cuda::cuLinkComplete$descriptor),
  cuLinkDestroy(Cuda::cuLinkDestroy$descriptor),
  cuLibraryLoadData(Cuda::cuLibraryLoadData$descriptor),
  cuLibraryUnload(Cuda::cuLibraryUnload$descriptor),
  cuLibraryGetKernel(Cuda::cuLibraryGetKernel$descriptor),
  cuLibraryGetKernelCount(Cuda::cuLibraryGetKernelCount$descriptor),
  cuLibraryGetModule(Cuda::cuLibraryGetModule$descriptor),
  cuKernelGetFunction(Cuda::cuKernelGetFunction$descriptor),
  cuLibraryGetGlobal(Cuda::cuLibraryGetGlobal$descriptor),
  cuKernelGetAttribute(Cuda::cuKernelGetAttribute$descriptor),
  cuKernelSetAttribute(Cuda::cuKernelSetAttribute$descriptor),
  cuMemGetInfo_v2(Cuda::cuMemGetInfo_v2$descriptor),
  cuMemAlloc_v2(Cuda::cuMemAlloc_v2$descriptor),
  cuMemFree_v2(Cuda::cuMemFree_v2$descriptor),
  cuMemGetAddressRange_v2(Cuda::cuMemGetAddressRange_v2$descriptor),
  cuMemAllocHost_v2(Cuda::cuMemAllocHost_v2$descriptor),
  cuMemFreeHost(Cuda::cuMemFreeHost$descriptor),
  cuMemHostAlloc(Cuda::cuMemHostAlloc$descriptor),
  cuMemHostGetDevicePointer_v2(Cuda::cuMemHostGetDevicePointer_v2$descriptor),
  cuMemAllocManaged(Cuda::cuMemAllocManaged$descriptor),
  cuDeviceGetPCIBusId(Cuda::cuDeviceGetPCIBusId$descriptor),
  cuMemHostRegister_v2(Cuda::cuMemHostRegister_v2$descriptor),
  cuMemHostUnregister(Cuda::cuMemHostUnregister$descriptor),
  cuMemcpyHtoD_v2(Cuda::cuMemcpyHtoD_v2$descriptor),
  cuMemcpyDtoH_v2(Cuda::cuMemcpyDtoH_v2$descriptor),
  cuMemcpyDtoD_v2(Cuda::cuMemcpyDtoD_v2$descriptor),
  cuMemcpy2D_v2(Cuda::cuMemcpy2D_v2$descriptor),
  cuMemcpyAsync(Cuda::cuMemcpyAsync$descriptor),
  cuMemcpyHtoDAsync_v2(Cuda::cuMemcpyHtoDAsync_v2$descriptor),
  cuMemcpyDtoHAsync_v2(Cuda::cuMemcpyDtoHAsync_v2$descriptor),
  cuMemcpyDtoDAsync_v2(Cuda::cuMemcpyDtoDAsync_v2$descriptor),
  cuMemcpy2DAsync_v2(Cuda::cuMemcpy2DAsync_v2$descriptor),
  cuMemsetD8_v2(Cuda::cuMemsetD8_v2$descriptor),
  cuMemsetD16_v2(Cuda::cuMemsetD16_v2$descriptor),
  cuMemsetD32_v2(Cuda::cuMemsetD32_v2$descriptor),
  cuMemsetD8Async(Cuda::cuMemsetD8Async$descriptor),
  cuMemsetD16Async(Cuda::cuMemsetD16Async$descriptor),
  cuMemsetD32Async(Cuda::cuMemsetD32Async$descriptor),
  cuMemFreeAsync(Cuda::cuMemFreeAsync$descriptor),
  cuMemAllocAsync(Cuda::cuMemAllocAsync$descriptor),
  cuMemPoolTrimTo(Cuda::cuMemPoolTrimTo$descriptor),
  cuMemPoolSetAttribute(Cuda::cuMemPoolSetAttribute$descriptor),
  cuMemPoolGetAttribute(Cuda::cuMemPoolGetAttribute$descriptor),
  cuMemPoolSetAccess(Cuda::cuMemPoolSetAccess$descriptor),
  cuMemPoolCreate(Cuda::cuMemPoolCreate$descriptor),
  cuMemPoolDestroy(Cuda::cuMemPoolDestroy$descriptor),
  cuMemAllocFromPoolAsync(Cuda::cuMemAllocFromPoolAsync$descriptor),
  cuPointerGetAttribute(Cuda::cuPointerGetAttribute$descriptor),
  cuStreamCreate(Cuda::cuStreamCreate$descriptor),
  cuStreamCreateWithPriority(Cuda::cuStreamCreateWithPriority$descriptor),
  cuStreamGetPriority(Cuda::cuStreamGetPriority$descriptor),
  cuStreamGetFlags(Cuda::cuStreamGetFlags$descriptor),
  cuStreamWaitEvent(Cuda::cuStreamWaitEvent$descriptor),
  cuStreamBeginCapture_v2(Cuda::cuStreamBeginCapture_v2$descriptor),
  cuThreadExchangeStreamCaptureMode(Cuda::cuThreadExchangeStreamCaptureMode$descriptor),
  cuStreamEndCapture(Cuda::cuStreamEndCapture$descriptor),
  cuStreamIsCapturing(Cuda::cuStreamIsCapturing$descriptor),
  cuStreamQuery(Cuda::cuStreamQuery$descriptor),
  cuStreamSynchronize(Cuda::cuStreamSynchronize$descriptor),
  cuStreamDestroy_v2(Cuda::cuStreamDestroy_v2$descriptor),
  cuEventCreate(Cuda::cuEventCreate$descriptor),
  cuEventRecord(Cuda::cuEventRecord$descriptor),
  cuEventRecordWithFlags(Cuda::cuEventRecordWithFlags$descriptor),
  cuEventQuery(Cuda::cuEventQuery$descriptor),
  cuEventSynchronize(Cuda::cuEventSynchronize$descriptor),
  cuEventDestroy_v2(Cuda::cuEventDestroy_v2$descriptor),
  cuEventElapsedTime_v2(Cuda::cuEventElapsedTime_v2$descriptor),
  cuFuncGetAttribute(Cuda::cuFuncGetAttribute$descriptor),
  cuFuncSetAttribute(Cuda::cuFuncSetAttribute$descriptor),
  cuFuncSetCacheConfig(Cuda::cuFuncSetCacheConfig$descriptor),
  cuFuncGetName(Cuda::cuFuncGetName$descriptor),
  cuFuncGetParamInfo(Cuda::cuFuncGetParamInfo$descriptor),
  cuFuncLoad(Cuda::cuFuncLoad$descriptor),
  cuLaunchKernel(Cuda::cuLaunchKernel$descriptor),
  cuLaunchKernelEx(Cuda::cuLaunchKernelEx$descriptor),
  cuLaunchCooperativeKernel(Cuda::cuLaunchCooperativeKernel$descriptor),
  cuLaunchHostFunc(Cuda::cuLaunchHostFunc$descriptor),
  cuGraphCreate(Cuda::cuGraphCreate$descriptor),
  cuGraphGetNodes(Cuda::cuGraphGetNodes$descriptor),
  cuGraphInstantiateWithFlags(Cuda::cuGraphInstantiateWithFlags$descriptor),
  cuGraphUpload(Cuda::cuGraphUpload$descriptor),
  cuGraphLaunch(Cuda::cuGraphLaunch$descriptor),
  cuGraphExecDestroy(Cuda::cuGraphExecDestroy$descriptor),
  cuGraphDestroy(Cuda::cuGraphDestroy$descriptor),
  cuGraphExecUpdate_v2(Cuda::cuGraphExecUpdate_v2$descriptor),
  cuGraphDebugDotPrint(Cuda::cuGraphDebugDotPrint$descriptor),
  cuOccupancyMaxActiveBlocksPerMultiprocessor(
      Cuda::cuOccupancyMaxActiveBlocksPerMultiprocessor$descriptor),
  cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      Cuda::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags$descriptor),
  cuOccupancyMaxPotentialBlockSize(Cuda::cuOccupancyMaxPotentialBlockSize$descriptor),
  cuOccupancyAvailableDynamicSMemPerBlock(Cuda::cuOccupancyAvailableDynamicSMemPerBlock$descriptor),
  cuOccupancyMaxPotentialClusterSize(Cuda::cuOccupancyMaxPotentialClusterSize$descriptor),
  cuOccupancyMaxActiveClusters(Cuda::cuOccupancyMaxActiveClusters$descriptor),
  cuTensorMapEncodeTiled(Cuda::cuTensorMapEncodeTiled$descriptor),
  cuTensorMapReplaceAddress(Cuda::cuTensorMapReplaceAddress$descriptor),
  cuDeviceCanAccessPeer(Cuda::cuDeviceCanAccessPeer$descriptor),
  cuGetProcAddress_v2(Cuda::cuGetProcAddress_v2$descriptor),
  cuProfilerStart(Cuda::cuProfilerStart$descriptor),
  cuProfilerStop(Cuda::cuProfilerStop$descriptor);

  private final Supplier<FunctionDescriptor> source;

  DriverFunction(Supplier<FunctionDescriptor> source) {
    this.source = source;
  }

  /**
   * Does nothing, if this module may use native code.
   *
   * @throws IllegalCallerException if {@code --illegal-native-access=deny} forbids it; {@link
   *     #descriptor} would fail then, and for good
   */
  public static void requireNativeAccess() {
    // The least of the restricted methods. Module.isNativeAccessEnabled would not do: it says no
    // as well where the first use only makes the JVM print a warning.
    MemorySegment.NULL.reinterpret(1);
  }

  /** Its name in the library. */
  public String symbol() {
    return name();
  }

  /**
   * What it takes and returns.
   *
   * @throws ExceptionInInitializerError if this module has no native access; ask {@link
   *     #requireNativeAccess} first
   */
  public FunctionDescriptor descriptor() {
    return source.get();
  }
}
